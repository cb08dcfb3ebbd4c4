"""Random histories with compaction, second copies and moves: each version that exists has its bytes after each step."""

import hashlib
import os
import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest
from sqlalchemy import select, update

from frepo_core.db import types
from frepo_core.db.models import Blob, BlobCopy, TrashEntry, Version
from frepo_core.domain.limits import COUNT
from frepo_core.errors import FrepoError
from frepo_core.services.backups.collections.collection_change import CollectionChange
from frepo_core.services.backups.versions.version_edits import VersionChange
from frepo_core.services.base.records.file_records import BlobRecord
from frepo_core.services.content.blobs import failpoints
from frepo_core.services.content.chains import encoding_switch, replaced_objects
from frepo_core.services.content.copies import copier
from frepo_core.services.content.encodings import choice
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.files.files import NewFile
from frepo_core.services.upkeep.compact import content_encoder
from frepo_core.services.upkeep.compact.encoder_process import EncoderProcess
from frepo_core.services.upkeep.mirror import departures, mirror_run, repairs
from frepo_core.services.upkeep.storage import Migrator, verify
from support.encodings.nights import nights
from support.reliability.clock import clock_of
from support.scale import IS_BIG

MODULES_WITH_POINTS = (content_encoder, encoding_switch, replaced_objects, copier, mirror_run, departures, repairs)
HISTORIES, STEPS = (15, 60) if IS_BIG else (1, 12)
ROWS = 300
JOBS = ["trash", "verify", "sweep", "mirror", "mirror", "journal", "catalogue", "migrate"]
# No transaction is open at these points, so that a client may do something there.
POINTS = {"content_encoded", "object_stored", "object_read_back", "blob_switched", "replaced_forgotten"}
POINTS |= {"copies_claimed", "copy_stored", "copy_read_back", "copies_gone", "first_repaired"}


@pytest.fixture
def ini(ini, tmp_path):
    """Each storage is a local directory."""
    storages = {f"storage.{name}.adapter": "local" for name in ("second", "archive")}
    folders = {f"storage.{name}.directory": str(tmp_path / name) for name in ("second", "archive")}
    mirror = {"storages": "second archive", "mirror": "second", "mirror.rate": "0", "mirror.delete_delay": "7d"}
    return ini | storages | folders | mirror | {"trash.keep": "3d", "compact.depth": "3"}


def encode(world):
    """Encode in this process, which is faster; sometimes in the real one, which may be killed."""
    encode = EncoderProcess.encode

    def encode_somewhere(self, task, keep_going):
        chance = world.draw.random()
        if not IS_BIG or chance < 0.9:
            return choice.Choice().choose(task, lambda: None)
        if chance < 0.95:
            self._started().kill()
        return encode(self, task, keep_going)

    return encode_somewhere


class World:
    """What happens to two collections. `tried` counts what was done and what was refused."""

    def __init__(self, services, by, run, folders, seed):
        self.services, self.by, self.run, self.folders = services, by, run, folders
        self.draw = random.Random(seed)
        self.now = datetime(2028, 2, 25, 2, tzinfo=UTC)
        self.dumps = nights(500, ROWS, seed=seed)
        keep = {"strategy": "keep", "strategy_options": {"last": 2, "daily": 3, "weekly": 2}}
        changes = [
            CollectionChange(limits={COUNT: 5}, filename="dump.sql"),
            CollectionChange(limits={COUNT: 30}, filename="dump.sql", **keep),
        ]
        self.collections = [services.collections.create(change, by=by).id for change in changes]
        self.contents, self.log, self.tried = {}, [], Counter()
        self.chance_between = 0.0
        self.is_within = False

    def step(self, names):
        name = self.draw.choice(names)
        self.log.append(name)
        try:
            getattr(self, name)()
            self.tried[name, "done"] += 1
        except FrepoError as error:
            self.tried[name, type(error).__name__] += 1
            self.log.append(f"({error})")

    def hit(self, point):
        """A job is at a point: it may be killed, or a client may do something."""
        failpoints.hit(point)
        if point in POINTS and not self.is_within and self.draw.random() < self.chance_between:
            self.is_within = True
            self.log.append(f"at {point}:")
            self.step(WHAT_CLIENTS_DO)
            self.is_within = False

    def push(self, content=None):
        content = next(self.dumps) if content is None else content
        self.contents[hashlib.sha256(content).hexdigest()] = content
        facts = self.services.collections.get(self.draw.choice(self.collections))
        self.services.add_version.add(facts, Incoming(stream=BytesIO(content)), by=self.by)
        self.now += timedelta(hours=0 if self.is_within else self.draw.choice([0, 12, 30]))

    def push_again(self):
        self.push(self.draw.choice(list(self.contents.values()) or [b"first"]))

    def push_other(self):
        content = self.draw.choice(list(self.contents.values()) or [b"first"])
        self.push(
            self.draw.choice([b"tiny%d" % len(self.contents), self.draw.randbytes(9000), content[::-1], 2 * content])
        )

    def upload(self):
        """The same content becomes a plain file, or one is deleted."""
        content = self.draw.choice(list(self.contents.values()) or [b"first"])
        self.contents[hashlib.sha256(content).hexdigest()] = content
        added = self.services.files.add(NewFile(name="a"), Incoming(stream=BytesIO(content)), by=self.by)
        if self.draw.random() < 0.7:
            self.services.files.delete(added.file.stored_name, "", by=self.by)

    def delete(self):
        collection, number = self._version()
        self.services.versions.delete(collection, f"v{number}", by=self.by)

    def restore(self):
        self.services.trash.restore(*self._entry(), by=self.by)

    def end(self):
        self.services.trash.end(*self._entry(), by=self.by)

    def pin(self):
        collection, number = self._version()
        version = self.services.versions.find(collection, f"v{number}")
        self.services.version_edits.edit(collection, version.id, VersionChange(pinned=not version.pinned), by=self.by)

    def lock(self):
        change = CollectionChange(limits={}, locked=timedelta(days=self.draw.randint(0, 2)))
        self.services.collections.edit(self.draw.choice(self.collections), change, by=self.by)

    def move(self):
        """Give a collection another storage, and move what it has."""
        collection = self.draw.choice(self.collections)
        change = CollectionChange(limits={}, storage=self.draw.choice(["archive", "", "second", "local"]))
        self.services.collections.edit(collection, change, by=self.by)
        self.services.collection_moves.request(collection)
        self.run("migrate")

    def migrate(self):
        """Move all blobs, as `storage:migrate` does."""
        source, target = self.draw.sample(["local", "archive", "second"], 2)
        Migrator(self.services.database, self.services.backends, source=source, target=target).run(
            purge=self.draw.random() < 0.5
        )

    def promote(self):
        """Make the other storage the first one, when both have everything."""
        self.settle()
        plan = self.services.promotions.plan(self.draw.choice(["second", "local"]))
        if not plan.loss.contents:
            self.services.promotions.promote(plan)
            if self.draw.random() < 0.5:
                self.services.promotions.switch_rows()

    def damage(self):
        """Flip a bit of some objects on one side, or delete them, when both have everything."""
        self.settle()
        folder = self.draw.choice(self.folders)
        paths = sorted(path for path in folder.glob("??/*") if path.name.partition("-")[0] in self.used())
        for path in self.draw.sample(paths, min(2, len(paths))):
            data = bytearray(path.read_bytes())
            data[self.draw.randrange(len(data))] ^= 1 << self.draw.randrange(8)
            path.unlink() if self.draw.random() < 0.3 else path.write_bytes(data)

    def compact(self):
        self.run("compact")

    def compact_while_clients_work(self):
        self.chance_between = 0.3
        try:
            self.run("compact")
            self.run(self.draw.choice(JOBS))
            self.compact()
        finally:
            self.chance_between = 0.0

    def kill(self):
        """The process of the worker is killed at a point of the job, or at none."""
        point = self.draw.choice([*failpoints.COMPACT_POINTS, "content_encoded"])
        child = os.fork()
        if not child:
            try:
                self.services.database.engine.dispose(close=False)
                failpoints._armed = point
                self.run("compact")
            finally:
                os._exit(1)
        os.waitpid(child, 0)

    def expand(self):
        self.services.compaction.expand_all(keep_going=lambda: None)

    def work(self):
        self.run(self.draw.choice(JOBS))

    def wait(self):
        self.run("journal")
        self.now += timedelta(hours=self.draw.choice([1, 13, 49]))

    def settle(self):
        """Let all damage be found and repaired, on both sides."""
        for _ in range(3):
            for _ in range(2):
                due = update(BlobCopy).where(BlobCopy.state.in_(["wanted", "missing", "damaged"]))
                self.services.database.execute(due.values(next_try=self.now))
                self.run("mirror")
            self.now += timedelta(hours=1)
            verify(self.services.database, self.services.backends)
            self.services.mirror.verify()
        self.run("mirror")

    def _version(self):
        with self.services.database.reading() as session:
            rows = session.execute(select(Version.collection_id, Version.number).order_by(Version.id)).all()
        if not rows:
            raise FrepoError("there is no version")
        return self.draw.choice(rows)

    def _entry(self):
        with self.services.database.reading() as session:
            rows = session.execute(select(TrashEntry.collection_id, TrashEntry.number).order_by(TrashEntry.id)).all()
        if not rows:
            raise FrepoError("the trash is empty")
        return self.draw.choice(rows)

    def used(self):
        """Return the digests of what is listed or in the trash."""
        with self.services.database.reading() as session:
            versions = session.scalars(select(Version)).all()
            return {row.file.blob.digest for row in versions} | set(session.scalars(select(TrashEntry.digest)))

    def check(self):
        """Each version and each entry of the trash has its bytes, and no chain is too long."""
        with self.services.database.reading() as session:
            blobs = {row.id: row for row in session.scalars(select(Blob))}
            used = {version.file.blob_id for version in session.scalars(select(Version))}
            used |= set(session.scalars(select(TrashEntry.blob_id)))
        for blob_id in used:
            found = self._read(blob_id)
            assert self.contents[blobs[blob_id].digest] == found, f"{vars(blobs[blob_id])} {found!r:.80} {self.log}"
        for row in blobs.values():
            depth, storage = 0, row.storage
            while row.base_id is not None:
                row, depth = blobs[row.base_id], depth + 1
            assert (row.storage, True) == (storage, depth <= self.services.settings.compact_depth), self.log

    def _read(self, blob_id):
        """Read a content, and again if its bytes are wrong: that is known at the end, and the repeat reads a copy."""
        for _ in range(2):
            with self.services.database.reading() as session:
                record = BlobRecord.of(session.get(Blob, blob_id))
            try:
                with self.services.stored_content.open(record) as content:
                    return content.read()
            except (FrepoError, OSError) as error:
                found = error
        return found


WHAT_CLIENTS_DO = ["push", "push_again", "push_other", "upload", "delete", "delete", "restore", "end", "pin", "lock"]
ALL = [
    *("push",) * 8,
    *("compact",) * 5,
    *("compact_while_clients_work",) * 4,
    *("work",) * 5,
    *("wait",) * 3,
    *WHAT_CLIENTS_DO,
    *("move", "migrate", "promote", "damage", "kill", "kill", "expand"),
]


@pytest.mark.databases(*([] if IS_BIG else ["sqlite"]))
@pytest.mark.parametrize("seed", range(HISTORIES))
def test_no_history_makes_a_version_unreadable(services, by, run, tmp_path, monkeypatch, seed):
    folders = [tmp_path / name for name in ("storage", "second", "archive")]
    services.copy_reads.notes._start = lambda work: work()
    world = World(services, by, run, folders, seed)
    monkeypatch.setattr(types, "datetime", clock_of(lambda: datetime.timestamp(world.now)))
    monkeypatch.setattr(EncoderProcess, "encode", encode(world))
    for module in MODULES_WITH_POINTS:
        monkeypatch.setattr(module, "hit", world.hit)

    run("catalogue")
    for _ in range(STEPS):
        world.step(ALL)
        world.check()
    world.expand()
    world.check()
    assert sum(world.tried[name, "done"] for name in ("push", "compact", "compact_while_clients_work")) > STEPS // 4
