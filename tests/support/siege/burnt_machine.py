"""A service with several storages, fed over HTTP and by its jobs until it burns; and what can be read of its ruins."""

import contextlib
import hashlib
import json
import random
import shutil
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from datetime import timedelta
from io import BytesIO
from pathlib import Path

from sqlalchemy import select

from frepo_core.db.models import Collection, Event, File, TrashEntry, Version
from frepo_core.domain.naming import parse_digest_in_key
from frepo_core.errors import FrepoError
from frepo_core.features.compact.encodings.decoder import DecodedContent
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.features.recovery.journal.changes import find_last_position
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.upkeep.journal.keys import JournalKey
from frepo_core.services.upkeep.storage import Ownership, verify, verify_copies
from support.encodings.nights import nights
from support.encodings.stored import StoredBlobs
from support.histories.random_history import RandomHistory

STEPS = [
    *("push",) * 6,
    *("upload",) * 2,
    *("work",) * 6,
    *("compact",) * 4,
    *("delete", "delete", "restore", "end", "pin", "lock", "move", "promote", "flip"),
]
KINDS = ("plain", "sealed", "alone")


def settings_of(kind: str, folder: Path) -> dict[str, str]:
    """Return the settings of the storages of a machine, which are folders in this one."""
    folders = {"fs.local": "local", "storage.offsite": "offsite", "storage.archive": "archive"}
    names = ["offsite", "archive", *(["vault"] if kind == "sealed" else [])]
    return {
        **{f"{prefix}.directory": str(folder / name) for prefix, name in folders.items()},
        "fs.adapter": "local",
        "storages": " ".join(names),
        "storage.offsite.adapter": "local",
        "storage.archive.adapter": "local",
        **({} if kind == "alone" else {"mirror": "vault" if kind == "sealed" else "offsite", "mirror.rate": "0"}),
        **(sealing(folder) if kind == "sealed" else {}),
    }


def sealing(folder: Path) -> dict[str, str]:
    """Return the settings of a storage that encrypts what `offsite` keeps."""
    keys = folder / "vault.keys"
    return {"storage.vault.adapter": "sealed", "storage.vault.over": "offsite", "storage.vault.key_file": str(keys)}


@dataclass(frozen=True)
class Known:
    """What a database knows: digests by collection and number, of versions and of the trash, and by names of files."""

    collections: set[str] = field(default_factory=set)
    versions: dict[tuple[str, int], str] = field(default_factory=dict)
    trash: dict[tuple[str, int], str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    @property
    def digests(self) -> set[str]:
        return {*self.versions.values(), *self.trash.values(), *self.files.values()}

    @classmethod
    def read(cls, services):
        """Read it from the database of services."""
        with services.database.reading() as session:
            versions = {
                (row.collection_id, row.number): row.file.blob.digest for row in session.scalars(select(Version))
            }
            plain = select(File).outerjoin(Version, Version.file_id == File.id).where(Version.id.is_(None))
            return cls(
                collections=set(session.scalars(select(Collection.id))),
                versions=versions,
                trash={(row.collection_id, row.number): row.digest for row in session.scalars(select(TrashEntry))},
                files={row.stored_name: row.blob.digest for row in session.scalars(plain)},
            )


class BurntMachine(RandomHistory):
    """Lives for some steps. `known` is what the last part of the journal has, `contents` all bytes by digest.

    `watch` is called after each step. `parts` has what was known when the journal was written, and its keys of then.
    """

    def __init__(self, services, by, token, address, folder, seed, watch=lambda machine: None):
        run = lambda job: services.jobs.run(job, cause="history")
        super().__init__(services, by, run, [folder / name for name in ("local", "offsite", "archive")], seed)
        self.address, self.token = address, token
        self.series = [list(nights(9, 60, changed=0.05, seed=seed * 7 + number)) for number in range(2)]
        self.seed, self.flips, self.known = seed, 0, Known()
        self.watch, self.parts = watch, []

    def begin_life(self):
        """Make two collections, a journal and a catalogue in each storage."""
        for name in ("archive", "offsite"):
            with contextlib.suppress(FrepoError):  # a sealed storage keeps its blobs there
                if not self.services.backends.find_users(name):
                    Ownership(self.services.database, self.services.backends).claim(name)
        for mirror in (None, self.draw.choice([None, "none", "archive"])):
            change = CollectionChange(limits={"versions": 9}, filename="db.sql", mirror=mirror)
            self.collections.append(self.services.collections.create(change, by=self.by).id)
        self.run("journal")
        self.run("catalogue")

    def live(self, steps):
        """Let some steps happen."""
        for _ in range(steps):
            self.step(STEPS)
            self.watch(self)

    def burn(self):
        """Write the last part of the journal, most times not at the last moment."""
        self.write_journal()
        for _ in range(self.draw.choice([0, 0, 2])):
            self.step(["push", "delete", "compact", "work"])

    def write_journal(self):
        self.services.database.write(_number_events)
        written = self.services.feature(RecoveryServices).journal.write_changes()
        if written.needing or self.draw.random() < 0.3:
            self.services.feature(RecoveryServices).journal.write_catalogue()
        self.known = Known.read(self.services)
        self.parts.append((self.known, find_journal(self.services.backends)))

    def push(self):
        collection = self.draw.randrange(2)
        again = self.contents and self.draw.random() < 0.25
        content = self.draw.choice([*self.contents.values()]) if again else self.draw.choice(self.series[collection])
        self._post(f"/repository/collection/{self.collections[collection]}/backup", content)

    def upload(self):
        again = self.contents and self.draw.random() < 0.5
        content = self.draw.choice([*self.contents.values()]) if again else self.draw.randbytes(400)
        self._post(f"/repository/file/upload?fileName=file{self.draw.randrange(99)}.bin", content)

    def _post(self, path, content):
        request = urllib.request.Request(f"http://{self.address}{path}", data=content, method="POST")
        request.add_header("X-Auth-Token", self.token)
        request.add_header("Content-Type", "application/octet-stream")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                assert json.loads(answer.read())["status"], path
        except urllib.error.HTTPError as error:
            assert error.code < 500, (path, error.code, error.read(), self.log)
            raise FrepoError(f"{error.code}: {error.read()[:200]!r}") from error
        self.contents[hashlib.sha256(content).hexdigest()] = content

    def lock(self):
        change = CollectionChange(limits={}, locked=timedelta(days=1))
        self.services.collections.edit(self.collections[0], change, by=self.by)

    def work(self):
        job = self.draw.choice(["mirror", "mirror", "mirror", "verify", "sweep", "trash", "journal", "catalogue"])
        self.write_journal() if job == "journal" else self.run(job)

    def compact(self):
        """Store one version as the difference to the next one of its collection, as the job does, or compressed.

        As in a group, the base may be a version of another collection; and segments may have several windows.
        """
        collection = self.draw.choice(self.collections)
        versions = sorted(self.services.versions.list(collection), key=lambda version: version.number)
        if len(versions) < 2:
            raise FrepoError("there is nothing to compact")
        place = self.draw.randrange(len(versions) - 1)
        others = self.services.versions.list(self.draw.choice(self.collections))
        base = self.draw.choice(others) if others and self.draw.random() < 0.4 else versions[place + 1]
        older, newer = (self.contents[one.file.blob.digest] for one in (versions[place], base))
        stored = StoredBlobs(self.services)
        if older == newer or stored.row(older) is None or stored.row(newer) is None:
            raise FrepoError("there is no difference")
        stored.encode(older, newer if self.draw.random() < 0.8 else None, has_windows=self.draw.random() < 0.5)
        if self.draw.random() < 0.5:
            stored.end_superseded()

    def flip(self):
        """Flip a bit of one object that nobody notices; once."""
        folder = self.draw.choice(self.folders)
        paths = sorted(folder.glob("??/*-*"))
        if self.flips or not paths:
            raise FrepoError("there is nothing to flip")
        path = self.draw.choice(paths)
        path.chmod(0o600)
        path.write_bytes(self.changed(path.read_bytes()))
        self.flips += 1


def _number_events(session):
    """Give all events their positions, without gaps, as the worker that leads does."""
    last = find_last_position(session)
    for event in session.scalars(select(Event).where(Event.position.is_(None)).order_by(Event.id)):
        last += 1
        event.position = last


def find_journal(backends):
    """Return the storages and keys of all parts of the journal, and of all catalogues."""
    keys = {(name, stat.key) for name in backends.configured for stat in backends.get(name).list()}
    return {(name, key) for name, key in keys if JournalKey.parse(key)}


def cut_journal(backends, kept):
    """Delete all parts of the journal, and all catalogues, that are not kept."""
    for name, key in find_journal(backends) - kept:
        backends.get(name).delete(key)


class Ruins:
    """Reads all contents that storages have, knowing nothing but their keys and bytes."""

    def __init__(self, backends, storages):
        self._backends = backends
        self._found = {}
        for storage in storages:
            for stat in backends.get(storage).list():
                if digest := parse_digest_in_key(stat.key):
                    self._found.setdefault((storage, digest), []).append(stat.key)

    def has(self, digest):
        """Return whether a content can be read from one of the storages."""
        return any(self._read(name, digest, ()) is not None for name, one in self._found if one == digest)

    def _read(self, storage, digest, above):
        for key in self._found.get((storage, digest), ()) if digest not in above else ():
            with contextlib.suppress(FrepoError, ValueError, OSError), self._backends.get(storage).open(key) as stored:
                data = stored.read()
                if hashlib.sha256(data).hexdigest() == digest:
                    return data
                content = self._decode(storage, digest, data, above)
                if hashlib.sha256(content).hexdigest() == digest:
                    return content
        return None

    def _decode(self, storage, digest, data, above):
        def base(other):
            found = self._read(storage, other, (*above, digest))
            if found is None:
                raise OSError("there is no base")
            return BytesIO(found)

        with DecodedContent(BytesIO(data), digest=digest, open_base=base) as content:
            return b"".join(iter(lambda: content.read(1 << 16), b""))


def read_content(services, find, repeats):
    """Return the bytes that a download of what `find` finds gets; None if it fails, also when it is repeated.

    Wrong bytes of a raw object are known at the last piece only: the download ends, and the next one has another copy.
    """
    for _ in range(1 + repeats):
        with contextlib.suppress(FrepoError), services.stored_content.open(find().blob) as content:
            return b"".join(iter(lambda: content.read(1 << 16), b""))
    return None


def read_all(services):
    """Verify both sides, so that what is wrong is known."""
    verify(services.database, services.backends)
    verify_copies(services.database, services.backends, services.copies.storages())


def copy_folders(folder, target, kept):
    """Copy what has survived to another machine."""
    target.mkdir()
    for name in ("local", "offsite", "archive"):
        if name in kept and (folder / name).exists():
            shutil.copytree(folder / name, target / name)
    if (folder / "vault.keys").exists():
        shutil.copy(folder / "vault.keys", target)


def draw_kind(seed):
    """Return what kind of machine it is."""
    return random.Random(seed * 31).choice(KINDS)
