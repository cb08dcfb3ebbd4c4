"""Writes the journal and the catalogues into each storage that is in use."""

import logging
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from datetime import datetime, timedelta
from importlib.metadata import version
from io import BytesIO
from typing import Any, BinaryIO

from sqlalchemy import delete, select

from frepo_core.db import Database, utc_now
from frepo_core.db.migrations import head_revision
from frepo_core.db.models import Event, PluginRowChange, StorageMark, StoredObject
from frepo_core.domain.structs import struct
from frepo_core.errors import FrepoError, StorageUnavailable
from frepo_core.services.base.failpoints import hit
from frepo_core.services.base.installation import ensure_id
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.content.storages.kept_blobs import find_adoption, note_adoption
from frepo_core.services.content.storages.sweep_guard import Ownership
from frepo_core.services.content.storages.write_guard import Presence
from frepo_core.services.upkeep.journal.comparison import find_next_part
from frepo_core.services.upkeep.journal.cursors import Cursor, break_off, change_cursor, note_restore, read_cursors
from frepo_core.services.upkeep.journal.keys import CATALOGUE, JOURNAL, JournalKey

from .changes import find_anchor, find_changes, find_last_position
from .journal_files import JournalWriter, pack_seal
from .json_rows import dump
from .objects import ObjectKind
from .seals import JournalSeals

log = logging.getLogger(__name__)

EVENTS_FOR = timedelta(days=30)
_CHUNK = 1000


@struct
class Written:
    """What was written: the number of objects, the bytes of the file, and the keys by storage.

    `needing` are storages whose journal cannot be continued without a new catalogue, `failed` says by storage why it
    could not be written to.
    """

    objects: int = 0
    size: int = 0
    keys: dict[str, str]
    needing: Sequence[str] = ()
    failed: Mapping[str, str] = field(default_factory=dict)

    def require(self, storage: str) -> "Written":
        """Return this. Raises `StorageUnavailable` if this storage could not be written to."""
        if storage in self.failed:
            raise StorageUnavailable(f"The storage {storage!r} got no record for a recovery: {self.failed[storage]}")
        return self


class Journal:
    """The journal and the catalogues of all storages. One process at a time writes."""

    def __init__(
        self,
        database: Database,
        backends: Backends,
        presence: Presence,
        seals: JournalSeals,
        kinds: Sequence[ObjectKind],
        folder: str | None,
    ) -> None:
        """`kinds` are what is written. `folder` is for the files before they are stored; None: the system's."""
        self._database = database
        self._backends = backends
        self._presence = presence
        self._seals = seals
        self._kinds = kinds
        self._ownership = Ownership(database, backends)
        self._folder = folder

    def write_changes(self, keep_going: Callable[[], None] = lambda: None) -> Written:
        """Write what has changed since the last part, unless nothing has. A storage that was away catches up.

        Raises `StorageUnavailable` at the end if the first storage could not be written to.
        """
        with self._database.reading() as session:
            cursors = read_cursors(session)
        names = self._names(cursors)
        needing = {name for name in names if name not in cursors or self._is_broken(name, cursors[name])}
        objects, size, keys, failed = 0, 0, {}, {}
        of_rows: list[frozenset[int]] = []
        for position in sorted({cursors[name].position for name in names - needing}):
            behind = [name for name in sorted(names - needing) if cursors[name].position == position]
            with self._spooled() as file:
                part = self._write_part(file, position, keep_going)
                if part is None:
                    needing |= set(behind)
                    for name in behind:
                        break_off(self._database, name)
                    continue
                of_rows.append(part.of_rows)
                for name in behind if part.objects else ():
                    try:
                        key = self._store_part(name, cursors[name], file, part)
                    except FrepoError as error:
                        failed[name] = error.message
                        continue
                    if key is None:
                        needing.add(name)
                    else:
                        keys[name], objects, size = key, part.objects, part.size
        self._forget_rows(frozenset.intersection(*of_rows) if of_rows else frozenset(), failed)
        written = Written(objects=objects, size=size, keys=keys, needing=sorted(needing), failed=failed)
        return written.require(self._backends.current)

    def write_catalogue(
        self, keep_going: Callable[[], None] = lambda: None, progress: Callable[[str], None] = lambda text: None
    ) -> Written:
        """Write all objects into each storage in use, read in one snapshot, and stored when the database is free.

        Raises `StorageUnavailable` at the end if the first storage could not be written to.
        """
        keys: dict[str, str] = {}
        failed: dict[str, str] = {}
        with self._spooled() as file:
            whole, names = self._write_whole(file, keep_going, progress)
            for name in names:
                try:
                    keys[name] = self._store_catalogue(name, file, whole)
                except FrepoError as error:
                    failed[name] = error.message
        written = Written(objects=whole.objects, size=whole.size, keys=keys, failed=failed)
        return written.require(self._backends.current)

    def break_off(self, storage: str) -> int:
        """Continue the journal of a storage with a catalogue, because it has parts that this database does not know.

        The database was restored from a backup, or a process was killed before it noted a part. What the storage has is
        kept for 30 days. Return the epoch of the new mark: what was lost has a lower one.
        """
        with self._database.reading() as session:
            cursor = read_cursors(session).get(storage)
        note_restore(self._database, storage, cursor, dump(utc_now()).strip('"'))
        self._ownership.raise_epoch(storage)
        epoch = self._epoch(storage)
        note_adoption(self._database, storage, epoch)
        break_off(self._database, storage)
        log.warning(
            "the journal in the storage %s is newer than this database. If it was restored from a backup, "
            "`frepo recover --merge %s` reads back what it has lost",
            *(storage, storage),
        )
        return epoch

    def _write_part(self, file: BinaryIO, since: int, keep_going: Callable[[], None]) -> "_Spooled | None":
        at, head = utc_now(), self._head()
        with self._database.reading(is_snapshot=True) as session:
            position = find_last_position(session)
            changes = find_changes(session, since, self._kinds)
            if changes is None:
                return None
            if not changes:
                return _Spooled(at=at, position=position, objects=0, size=0)
            of_rows = changes.of_rows
            head |= {"made_at": at, "since_position": since, "position": position} | find_anchor(session)
            writer = JournalWriter(file, JOURNAL, head)
            for name, key, values in changes.objects(session):
                keep_going()
                writer.add(name, key, values)
        return replace(_finish(writer, file, at, position), of_rows=of_rows)

    def _forget_rows(self, ids: frozenset[int], failed: Iterable[str]) -> None:
        """Forget which rows of plug-ins have changed: the parts have them. A storage without its part needs all."""
        if ids:
            for name in failed:
                break_off(self._database, name)
            ordered = sorted(ids)
            for start in range(0, len(ordered), _CHUNK):
                chunk = PluginRowChange.id.in_(ordered[start : start + _CHUNK])
                self._database.execute(delete(PluginRowChange).where(chunk))

    def _write_whole(
        self, file: BinaryIO, keep_going: Callable[[], None], progress: Callable[[str], None]
    ) -> "tuple[_Spooled, list[str]]":
        at, head = utc_now(), self._head()
        with self._database.reading(is_snapshot=True) as session:
            position = find_last_position(session)
            names = sorted(self._names(session.scalars(select(StoredObject.storage).distinct())))
            writer = JournalWriter(file, CATALOGUE, head | {"made_at": at, "position": position} | find_anchor(session))
            for kind in self._kinds:
                conditions = [Event.at >= at - EVENTS_FOR] if kind.name == "event" else []
                for page in kind.pages(session, *conditions):
                    keep_going()
                    for key, values in page:
                        writer.add(kind.name, key, [values])
                    progress(f"{writer.objects} objects")
            cursors = read_cursors(session)
        return replace(_finish(writer, file, at, position), cursors=cursors), names

    def _head(self) -> dict[str, Any]:
        return {"database": ensure_id(self._database), "schema": head_revision(), "version": version("frepo-core")}

    def _names(self, others: Iterable[str]) -> set[str]:
        """Return the configured storages and others, but those in which another storage keeps its blobs."""
        return {name for name in {*self._backends.configured, *others} if not self._backends.find_users(name)}

    def _is_broken(self, storage: str, cursor: Cursor) -> bool:
        """Return whether the journal cannot go on, as after an adoption: the parts since may be of another database.

        After a change of the secrets, what a recovery reads has to be sealed with the new ones, from a catalogue on.
        """
        if cursor.is_broken or cursor.secrets != self._seals.id:
            return True
        query = select(StorageMark.epoch).where(StorageMark.storage == storage, StorageMark.adopted_at.is_not(None))
        with self._database.reading() as session:
            return session.scalar(query.where(StorageMark.epoch > cursor.epoch).limit(1)) is not None

    def _store_part(self, storage: str, cursor: Cursor, file: BinaryIO, part: "_Spooled") -> str | None:
        """Store a part after the last one; return its key, or None if another database has written it already."""
        key = JournalKey(epoch=max(self._epoch(storage), cursor.epoch), number=cursor.number + 1)
        if find_next_part(self._backends.get(storage), cursor, key.epoch) is not None:
            self.break_off(storage)
            return None
        self._store(storage, key, file, part, cursor.digest)
        change_cursor(self._database, storage, lambda found: _moved(found or cursor, key, part))
        hit("journal_noted")
        return key.text

    def _store_catalogue(self, storage: str, file: BinaryIO, whole: "_Spooled") -> str:
        before = (whole.cursors or {}).get(storage)
        epoch = self._epoch(storage)
        continues = before is not None and not self._is_broken(storage, before)
        number, at = before.number if before else 0, dump(whole.at).strip('"')
        key = JournalKey(epoch=epoch, number=number, made_at=whole.at)
        digest = before.digest if before else ""
        if before is not None and (find_adoption(self._database, storage) or 0) > before.epoch:
            note_restore(self._database, storage, before, at)
        self._store(storage, key, file, whole, digest)

        def change(found: Cursor | None) -> Cursor:
            if found and continues and not found.is_broken:
                return replace(found, catalogue=key.text)
            return Cursor(
                position=whole.position,
                epoch=epoch,
                number=number,
                at=at,
                catalogue=key.text,
                digest=digest,
                secrets=self._seals.id,
            )

        change_cursor(self._database, storage, change)
        hit("catalogue_noted")
        return key.text

    def _epoch(self, storage: str) -> int:
        """Return the epoch of the mark in the storage. Raises `StorageUnavailable` if it is not the one it was."""
        if self._ownership.current(storage) is None:
            self._ownership.claim(storage)
        mark = self._presence.look_for_mark(storage)
        return mark.epoch if mark else 0

    def _store(self, storage: str, key: JournalKey, file: BinaryIO, spooled: "_Spooled", before: str) -> None:
        seal = pack_seal(self._seals.make(key, spooled.digest, before))
        file.seek(0)
        content = _Content(file, seal)
        self._backends.get(storage).store(key.text, content, spooled.size + len(seal))  # type: ignore[arg-type]
        hit("journal_stored")
        log.debug("%s was written to the storage %s: %d objects", key.text, storage, spooled.objects)

    @contextmanager
    def _spooled(self) -> Iterator[BinaryIO]:
        with tempfile.TemporaryFile(dir=self._folder) as file:
            yield file


@struct
class _Spooled:
    """A file that was written completely: time and position of what it has last, and the digest of its lines.

    `of_rows` are the ids of the changes of rows of plug-ins that are in it.
    """

    at: datetime
    position: int
    objects: int
    size: int
    digest: str = ""
    of_rows: frozenset[int] = frozenset()
    cursors: dict[str, Cursor] | None = None


class _Content:
    """A file and its seal as a storage may read them, without a descriptor: each storage has bytes of its own."""

    def __init__(self, file: BinaryIO, seal: bytes) -> None:
        self._files = [file, BytesIO(seal)]

    def read(self, size: int = -1, /) -> bytes:
        """Read at most `size` bytes, at most to the end of one of them."""
        while self._files:
            if data := self._files[0].read(size):
                return data
            del self._files[0]
        return b""


def _finish(writer: JournalWriter, file: BinaryIO, at: datetime, position: int) -> _Spooled:
    writer.finish()
    return _Spooled(at=at, position=position, objects=writer.objects, size=file.tell(), digest=writer.digest)


def _moved(cursor: Cursor, key: JournalKey, part: _Spooled) -> Cursor:
    at = dump(part.at).strip('"')
    return replace(cursor, position=part.position, epoch=key.epoch, number=key.number, at=at, digest=part.digest)
