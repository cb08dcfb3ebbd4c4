"""A machine with the real services, which clients use and an operator looks after, one step of the model at a time."""

import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from frepo_core.db.models import Content, File, StoredObject, Version
from frepo_core.domain.limits import COUNT
from frepo_core.domain.roles import Role
from frepo_core.errors import FrepoError, StorageUnavailable
from frepo_core.features.moves.feature import MoveServices
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.features.recovery.merge import MergeReport
from frepo_core.services.access.tokens import NewToken
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.base.records import BlobRecord
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.content.objects.found_objects import FoundObjects
from frepo_core.services.content.objects.states import CURRENT, ObjectState
from frepo_core.services.content.storages.sweep_guard import Ownership
from frepo_core.testing import MemoryStorage

from .places import CONTENTS, DIGESTS, STORAGES
from .services import Real
from .telling import NotDoneError

Opens = Callable[[Path], Any]
# More than a content has objects in these stories.
TRIES = 6
CLIENT = {"address": "127.0.0.1", "user_agent": ""}


class AwayStorage(MemoryStorage):
    """A storage that does not answer."""

    def list(self) -> Any:
        """Raise `StorageUnavailable`, as everything else does."""
        raise StorageUnavailable("it does not answer")

    stat = open = store = delete = check = lambda self, *more: self.list()  # type: ignore[assignment, misc]


class Site:
    """The services over one database and storages in memory. What was acknowledged is in `owed`."""

    def __init__(self, folder: Path, opens: Opens, patch: pytest.MonkeyPatch) -> None:
        """`opens` opens services over a new database in a folder."""
        self.folder, self._opens, self._patch = folder, opens, patch
        self.memory = {name: MemoryStorage() for name in STORAGES}
        self.owed = Counter[int]()
        self.merged: list[MergeReport] = []
        self._was_moved = False
        self._backup = folder.parent / f"{folder.name}.backup"
        self.services: Any = None
        self._start()
        self._token = self.services.tokens.generate(NewToken(roles=(Role.ADMINISTRATOR,), expires="never")).id
        change = CollectionChange(limits={COUNT: 50}, filename="dump.sql")
        self.collection = self.services.collections.create(change, by=self._client()).id
        self.services.feature(RecoveryServices).journal.write_catalogue()

    def close(self) -> None:
        """End what is in flight, as if the process was killed."""
        self.real.uploads.kill()
        self.services.database.engine.dispose()

    def do(self, what: str) -> None:
        """Do a step of the model. Raises `NotDoneError` or `NotDrivenError`."""
        for start, method in (_OPERATIONS | (_OF_MOVES if self._was_moved else {})).items():
            if what.startswith(start):
                method(self, what)
                return
        before = self._count_versions()
        self.real.do(what)
        if what.startswith(("an upload commits", "an upload uses")) and self._count_versions() == before:
            raise NotDoneError("nothing was acknowledged")
        self._note(what)

    def readable(self) -> set[int]:
        """Return the contents that are read now, from whichever object, by what their rows say."""
        return {content for content in range(len(CONTENTS)) if self._read(content)}

    def lost(self) -> set[int]:
        """Return what was acknowledged and cannot be read."""
        return {content for content, count in self.owed.items() if count} - self.readable()

    def recover(self, folder: Path, *storages: str) -> "Site":
        """Return another machine, whose database was recovered from these storages alone."""
        folder.mkdir()
        other: Site = object.__new__(Site)
        other.folder, other._opens, other._patch = folder, self._opens, self._patch
        other.memory, other.owed, other.services = dict(self.memory), self.owed, None
        other._token, other.collection, other._was_moved = self._token, self.collection, False
        other._start()
        other._recover(storages)
        return other

    # Steps

    def back_up(self, _: str) -> None:
        """Copy the database."""
        self._backup.unlink(missing_ok=True)
        source, target = sqlite3.connect(self.folder / "frepo.db"), sqlite3.connect(self._backup)
        source.backup(target)
        source.close()
        target.close()

    def restore(self, _: str) -> None:
        """Stop the service, copy the backup back, and let it adopt the storages."""
        self._start(self._backup)
        for storage in STORAGES[:2]:
            Ownership(self.services.database, self.services.backends).adopt(storage, keeps_unknown=True)

    def lose_database(self, what: str) -> None:
        """Lose the database, and recover it from what is named."""
        self._start()
        names = what.partition("recovered from ")[2].split(" and ")
        self._recover([STORAGES["ABC".index(name)] for name in names])

    def reconcile(self, what: str) -> None:
        """Merge what a storage has."""
        with self.services.feature(RecoveryServices).merge(STORAGES["ABC".index(what[0])], lambda text: None) as merge:
            self.merged.append(merge.run(merge.find(), by=None))

    def move(self, _: str) -> None:
        """Name another storage for the collection, and request that its versions are moved there."""
        change = CollectionChange(limits={}, storage=STORAGES[2])
        self.services.collections.edit(self.collection, change, by=self._client())
        self.services.feature(MoveServices).collections.request(self.collection)
        self._was_moved = True

    def run_move(self, _: str) -> None:
        """Move, in one: the service makes the object, supersedes the former one, and ends the request."""
        self.services.feature(MoveServices).collections.run()

    def delete_due(self, what: str) -> None:
        """Delete what was superseded long enough ago."""
        if not self.services.blobs.gate.delete_due(STORAGES["ABC".index(what.partition(" in ")[2][0])]).objects:
            raise NotDoneError("it is kept")

    def sweep(self, what: str) -> None:
        """List bytes without a row, and register them."""
        storage = STORAGES["ABC".index(what.partition(" in ")[2][0])]
        stats = [stat for stat in self.memory[storage].list() if stat.key in self.real.places.keys(storage)]
        FoundObjects(self.services.database, self.services.backends).register(storage, stats, keeps=timedelta())

    def delete_unnamed(self, what: str) -> None:
        """Do nothing: the service deletes nothing that has no row."""
        if self.real.places.keys(STORAGES["ABC".index(what.partition(" in ")[2][0])]):
            raise NotDoneError("what was found has a row, and stays")

    def nothing(self, _: str) -> None:
        """Do nothing: the service does this within another step."""

    # The rest

    def _start(self, database: Path | None = None) -> None:
        """Start services over a copy of a database, or an empty one. The former ones are killed."""
        if self.services is not None:
            self.close()
        for path in self.folder.glob("frepo.db*"):
            path.unlink()
        self.services = self._opens(self.folder)
        if database:
            self.services.database.engine.dispose()
            shutil.copy(database, self.folder / "frepo.db")
        self.services.object_reads.notes._start = lambda work: work()  # the next read knows what this one has found
        self.real = Real(self.services, self._push, self._delete, self._patch, self.memory)

    def _recover(self, storages: Any) -> None:
        for name in set(STORAGES) - {*storages}:
            self.services.backends._built[name] = AwayStorage()
        with self.services.feature(RecoveryServices).recovery(storages[0], lambda text: None) as recovery:
            recovery.run(recovery.find(), with_tokens=True)
        self.services.backends._built.update(self.memory)

    def _note(self, what: str) -> None:
        content = "XYZ".find(next((one for one in what.split() if one[0] in "XYZ"), "-")[0])
        if what.startswith(("an upload commits", "an upload uses")):
            self.owed[content] += 1
            self.services.feature(RecoveryServices).journal.write_changes()
        elif what.endswith("is deleted") and what.startswith("a version"):
            self.owed[content] -= 1
            self.services.feature(RecoveryServices).journal.write_changes()

    def _count_versions(self) -> int:
        with self.services.database.reading() as session:
            return session.scalar(select(func.count(Version.id))) or 0

    def _client(self) -> Any:
        return self.services.tokens.identify(self._token, **CLIENT)

    def _push(self, content: bytes) -> object:
        services = self.services
        collection = services.collections.get(self.collection)
        return services.add_version.add(collection, Incoming(stream=BytesIO(content)), by=self._client())

    def _delete(self, digest: str) -> None:
        query = select(Version.number).join(File, File.id == Version.file_id)
        query = query.join(Content, Content.id == File.content_id).where(Content.digest == digest)
        with self.services.database.reading() as session:
            number = session.scalar(query)
        self.services.versions.delete(self.collection, f"v{number}", by=self._client())

    def _read(self, content: int) -> bool:
        """Download a content, as a client does: again if an object fails at its end. The next one is another."""
        query = select(Content).where(Content.digest == DIGESTS[content])
        with self.services.database.reading() as session:
            row = session.scalar(query)
            blob = None if row is None else BlobRecord.of(row, row.place)
        for _ in range(TRIES if blob is not None else 0):
            with suppress(FrepoError, ValueError, OSError), self.services.stored_content.open(blob) as stream:
                if b"".join(iter(lambda: stream.read(1 << 16), b"")) == CONTENTS[content]:
                    return True
        return False


def find_current_only(site: Site) -> set[tuple[str, str]]:
    """Return storage and digest of what is decodable by current objects alone: a least fixed point."""
    current = (StoredObject.slot == CURRENT, StoredObject.state == ObjectState.PRESENT.value)
    with site.services.database.reading() as session:
        rows = session.scalars(select(StoredObject).where(*current)).all()
    found = set[tuple[str, str]]()
    while (
        more := {
            (row.storage, row.digest)
            for row in rows
            if row.base_digest is None or (row.storage, row.base_digest) in found
        }
        - found
    ):
        found |= more
    return found


_OPERATIONS: dict[str, Callable[[Site, str], None]] = {
    "the database is backed up": Site.back_up,
    "the database of the last night is restored": Site.restore,
    "the database is lost": Site.lose_database,
    "A is reconciled": Site.reconcile,
    "B is reconciled": Site.reconcile,
    "the collection 0 is moved to C": Site.move,
    "a sweep notes": Site.sweep,
    "X in A (no row) is deleted": Site.delete_unnamed,
}
_OF_MOVES: dict[str, Callable[[Site, str], None]] = {
    "the job begins X in C (writing)": Site.nothing,
    "the job stores X in C (writing)": Site.nothing,
    "X in C (writing) becomes the current one": Site.run_move,
    "X in A (present) was moved away": Site.nothing,
    "X in A (superseded) is doomed": Site.delete_due,
    "X in A (doomed) is deleted": Site.nothing,
}
