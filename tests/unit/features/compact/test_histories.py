"""Random histories with compaction, second copies and moves: each version that exists has its bytes after each step."""

import hashlib
import os
import shutil
from collections import defaultdict
from datetime import timedelta
from io import BytesIO

import pytest
from sqlalchemy import select, update

from frepo_core.db.models import Content, File, StoredObject, TrashEntry, Version
from frepo_core.domain.limits import COUNT
from frepo_core.errors import DamagedObjectError, FrepoError
from frepo_core.features.compact import content_encoder, encoding_switch
from frepo_core.features.compact.encoder import alignment, anchors, choice, clusters
from frepo_core.features.compact.encoder_process import EncoderProcess
from frepo_core.features.compact.encodings.format import has_several_windows
from frepo_core.features.compact.feature import CompactServices
from frepo_core.features.compact.planned_content import Encoding
from frepo_core.features.compact.series import read_groups
from frepo_core.features.moves.migration import Migrator
from frepo_core.features.second_copies import copier, departures, mirror_run
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.base import failpoints
from frepo_core.services.base.records.file_records import BlobRecord
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.content.objects import gate
from frepo_core.services.content.objects.uses import is_second
from frepo_core.services.files.files import NewFile
from support.encodings.nights import nights
from support.histories.random_history import JOBS, RandomHistory
from support.scale import IS_BIG

MODULES_WITH_POINTS = (content_encoder, encoding_switch, gate, copier, mirror_run, departures)
HISTORIES, STEPS = (15, 60) if IS_BIG else (1, 12)
ROWS = 300
# No transaction is open at these points, so that a client may do something there.
POINTS = {"content_encoded", "object_stored", "object_read_back", "blob_switched", "object_doomed", "object_deleted"}
POINTS |= {"copies_claimed", "copy_stored", "copy_read_back", "copies_gone", "first_repaired"}


@pytest.fixture
def ini(ini, tmp_path):
    """Each storage is a local directory."""
    storages = {f"storage.{name}.adapter": "local" for name in ("second", "archive")}
    folders = {f"storage.{name}.directory": str(tmp_path / name) for name in ("second", "archive")}
    mirror = {"storages": "second archive", "mirror": "second", "mirror.rate": "0", "mirror.delete_delay": "7d"}
    compact = {"compact.depth": "3", "compact.format": "2", "compact.newest": "shared"}
    return ini | storages | folders | mirror | compact | {"trash.keep": "3d"}


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


class World(RandomHistory):
    """A history of collections of dumps, alone and in groups, whose older ones are stored as differences."""

    def __init__(self, services, by, run, folders, seed):
        super().__init__(services, by, run, folders, seed)
        self.dumps = nights(500, ROWS, seed=seed)
        keep = {"strategy": "keep", "strategy_options": {"last": 2, "daily": 3, "weekly": 2}}
        self.changes = [
            CollectionChange(limits={COUNT: 5}, filename="dump.sql"),
            CollectionChange(limits={COUNT: 30}, filename="dump.sql", **keep),
            CollectionChange(limits={COUNT: 3}, filename="dump.sql", compact_group="one"),
            CollectionChange(limits={COUNT: 30}, filename="dump.sql", compact_group="one", **keep),
            CollectionChange(limits={COUNT: 9}, filename="dump.sql", compact_group="one"),
        ]
        self.collections = [services.collections.create(change, by=by).id for change in self.changes]
        self.chance_between = 0.0
        self.is_within = False

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

    def push_in_another_order(self):
        """The parts of a content come in another order, so that differences have several windows."""
        content = self.draw.choice(list(self.contents.values()) or [b"first"])
        size = max(1, len(content) // self.draw.randint(3, 6))
        parts = [content[start : start + size] for start in range(0, len(content), size)]
        self.draw.shuffle(parts)
        self.push(b"".join(parts))

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

    def lock(self):
        change = CollectionChange(limits={}, locked=timedelta(days=self.draw.randint(0, 2)))
        self.services.collections.edit(self.draw.choice(self.collections), change, by=self.by)

    def regroup(self):
        """A collection joins a group, or leaves its own; or it wants second copies elsewhere, or none."""
        change = {"compact_group": self.draw.choice(["", "one", "one", "other"])}
        if self.draw.random() < 0.3:
            change = {"mirror": self.draw.choice(["", "", "none", "archive"])}
        name = self.draw.choice(self.collections)
        self.services.collections.edit(name, CollectionChange(limits={}, **change), by=self.by)

    def drop(self):
        """A collection is deleted with its versions, and another one takes its place."""
        place = self.draw.randrange(len(self.collections))
        self.services.collections.delete(self.collections[place], by=self.by, with_versions=True)
        self.collections[place] = self.services.collections.create(self.changes[place], by=self.by).id

    def migrate(self):
        """Move all blobs, as `storage:migrate` does."""
        source, target = self.draw.sample(["local", "archive", "second"], 2)
        Migrator(self.services.database, self.services.backends, source=source, target=target).run(
            purge=self.draw.random() < 0.5
        )

    def promote(self):
        """Make the other storage the first one, when both have everything."""
        self.settle()
        super().promote()

    def settle(self, rounds=3):
        """Let all damage be found and repaired, on both sides: a chain takes longer."""
        super().settle(rounds)

    def lose(self):
        """Replace a storage by an empty folder for a moment: what has a copy elsewhere is read from that."""
        self.settle()
        folder = self.draw.choice(self.folders)
        name = "local" if folder.name == "storage" else folder.name
        safe = self._elsewhere(name)
        folder.rename(folder.with_name("away"))
        folder.mkdir()
        try:
            self._check_bytes(safe)
        finally:
            shutil.rmtree(folder)
            folder.with_name("away").rename(folder)
        self.services.backends.breaker.worked(name)  # instead of half a minute
        self.settle()

    def _elsewhere(self, lost):
        """Return the ids of the contents in use that another storage has. What came since a promotion has one copy."""
        copies = select(StoredObject.content_id).where(StoredObject.state == "present", StoredObject.storage != lost)
        with self.services.database.reading() as session:
            found = set(session.scalars(copies))
        used = self._used_contents()
        self.tried["lose", "safe"] += len(used & found)
        self.tried["lose", "one copy"] += len(used - found)
        return used & found

    def condemn(self):
        """A check finds a version broken, or a guard puts it into quarantine."""
        with self.services.database.reading() as session:
            ids = session.scalars(select(Version.id)).all()
        if ids:
            change = self.draw.choice([{"verdict": "broken"}, {"verdict": "suspicious"}, {"quarantined_at": self.now}])
            self.services.database.execute(update(Version).where(Version.id == self.draw.choice(ids)).values(**change))

    def compact(self):
        report = self.run("compact")
        if not (report["failed"] or report["skipped"] or report["waiting"]):
            self._check_consent()

    def _check_consent(self):
        """After a whole run, each base of a version is of its own collection, or lives in one of its group."""
        with self.services.database.reading() as session:
            groups = read_groups(session, self.services.backends)
            versions, trash = defaultdict(set), defaultdict(set)
            uses = select(File.content_id, Version.collection_id).join(Version, Version.file_id == File.id)
            for content_id, name in session.execute(uses):
                versions[content_id].add(name)
            for content_id, name in session.execute(select(TrashEntry.content_id, TrashEntry.collection_id)):
                trash[content_id].add(name)
            ids = {row.digest: row.id for row in session.scalars(select(Content))}
            current = select(StoredObject).where(StoredObject.slot == 1, StoredObject.state == "present")
            current = current.where(~is_second(self.services.backends))
            deltas = [row for row in session.scalars(current) if row.base_digest]
        for row in deltas:
            users, base = versions[row.content_id], ids[row.base_digest]
            own = users & (versions[base] | trash[base]) or not users
            group = {name for user in users if user in groups for name in groups[user].collections}
            assert own or (users <= group and versions[base] & group), (row.digest, users, self.log)
            self.tried["base", "own" if own else "of the group"] += 1

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
        self.services.feature(CompactServices).compaction.expand_all(keep_going=lambda: None)

    def check(self):
        """Each version and each entry of the trash has its bytes, and no chain is too long."""
        self._check_bytes(self._used_contents())
        with self.services.database.reading() as session:
            present = select(StoredObject).where(StoredObject.slot == 1, StoredObject.state == "present")
            rows = {(row.storage, row.digest): row for row in session.scalars(present)}
        for row in rows.values():
            depth = 0
            self.tried["windows", row.encoding == Encoding.DELTA and self._has_several_windows(row)] += 1
            while row is not None and row.base_digest is not None:
                row, depth = rows.get((row.storage, row.base_digest)), depth + 1
            assert depth <= self.services.settings.compact_depth, self.log

    def _has_several_windows(self, row):
        with self.services.backends.get(row.storage).open(row.key) as stored:
            try:
                return has_several_windows(stored, row.digest)
            except DamagedObjectError:
                return False

    def _check_bytes(self, content_ids):
        with self.services.database.reading() as session:
            contents = {row.id: row for row in session.scalars(select(Content))}
        for content_id in content_ids:
            found = self._read(content_id)
            digest = contents[content_id].digest
            assert self.contents[digest] == found, f"{digest} {found!r:.80} {self.log}"

    def _used_contents(self):
        with self.services.database.reading() as session:
            used = {version.file.content_id for version in session.scalars(select(Version))}
            return used | set(session.scalars(select(TrashEntry.content_id)))

    def _read(self, content_id):
        """Read a content, and again if its bytes are wrong: that is known at the end, and the repeat reads a copy."""
        for _ in range(2):
            with self.services.database.reading() as session:
                record = BlobRecord.of(session.get(Content, content_id))
            try:
                with self.services.stored_content.open(record) as content:
                    return content.read()
            except (FrepoError, OSError) as error:
                found = error
        return found


WHAT_CLIENTS_DO = ["push", "push_again", "push_other", "upload", "delete", "delete", "restore", "end", "pin", "lock"]
ALL = [
    *("regroup", "regroup", "drop"),
    *("push",) * 9,
    *("push_in_another_order",) * 4,
    *("compact",) * 6,
    *("compact_while_clients_work",) * 4,
    *("work",) * 5,
    *("wait",) * 3,
    *WHAT_CLIENTS_DO,
    *("condemn", "condemn"),
    *("move", "migrate", "promote", "damage", "lose", "kill", "kill", "expand"),
]


@pytest.fixture
def small_segments(monkeypatch):
    """Let contents of 30 kB have several segments, whose parts are found in several places of a base."""
    monkeypatch.setattr(alignment, "SMALL_SEGMENT", 8 << 10)
    monkeypatch.setattr(alignment, "LARGE_SEGMENT", 8 << 10)
    monkeypatch.setattr(anchors, "CHUNK_SIZE", 512)
    for name, value in {"_GAP": 1 << 10, "_MARGIN": 256, "_LEAST_CHUNKS": 1}.items():
        monkeypatch.setattr(clusters, name, value)


@pytest.mark.costly
@pytest.mark.usefixtures("small_segments")
@pytest.mark.databases(*([] if IS_BIG else ["sqlite"]))
@pytest.mark.parametrize("seed", range(HISTORIES))
def test_no_history_makes_a_version_unreadable(services, by, run, tmp_path, monkeypatch, seed):
    folders = [tmp_path / name for name in ("storage", "second", "archive")]
    world = World(services, by, run, folders, seed)
    monkeypatch.setattr(EncoderProcess, "encode", encode(world))
    for module in MODULES_WITH_POINTS:
        monkeypatch.setattr(module, "hit", world.hit)
    world.begin(monkeypatch)

    for _ in range(STEPS):
        world.step(ALL)
        world.check()
    world.expand()
    world.check()
    names = ("push", "push_in_another_order", "compact", "compact_while_clients_work")
    assert sum(world.tried[name, "done"] for name in names) > STEPS // 4
