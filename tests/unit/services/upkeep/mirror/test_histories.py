"""Random histories: no good dump is lost, and no second copy before its time, whatever is combined with what."""

import hashlib
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from frepo_core.db import types
from frepo_core.db.models import BlobCopy, TrashEntry, Version
from frepo_core.errors import FrepoError
from frepo_core.services.backups.collections.collection_change import CollectionChange
from frepo_core.services.backups.versions.version_edits import VersionChange
from frepo_core.services.upkeep.storage import verify
from support.reliability.clock import clock_of
from support.scale import IS_BIG

HISTORIES, STEPS = (60, 60) if IS_BIG else (1, 30)
DELAY = timedelta(days=7)


@pytest.fixture
def ini(ini, tmp_path):
    archive = {"storage.archive.adapter": "local", "storage.archive.directory": str(tmp_path / "archive")}
    keep = {"mirror.delete_delay": "7d", "trash.keep": "3d", "storages": "second archive"}
    return ini | archive | keep


class History:
    """What happens to two collections. `tried` counts the steps that were done, and those that were refused."""

    def __init__(self, services, sender, make_collection, push, run, folders, seed):
        self.services, self.sender, self.push_to, self.run = services, sender, push, run
        self.draw = random.Random(seed)
        self.folders = folders
        self.now = datetime(2028, 2, 25, 2, tzinfo=UTC)
        self.collections = [make_collection(3), make_collection(3)]
        self.contents = {}
        self.gone_at, self.copied = {}, set()
        self.tried = Counter()
        self.log = []

    def step(self):
        name = self.draw.choice(STEPS_OF_A_HISTORY)
        self.log.append(name)
        try:
            getattr(self, name)()
            self.tried[name, "done"] += 1
        except FrepoError as error:
            self.tried[name, type(error).__name__] += 1
        self.check()

    def push(self):
        again = self.contents and self.draw.random() < 0.3
        content = self.draw.choice(sorted(self.contents.values())) if again else self.draw.randbytes(300)
        self.contents[hashlib.sha256(content).hexdigest()] = content
        self.push_to(self.draw.choice(self.collections), content)

    def delete(self):
        collection, number = self._version()
        self.services.versions.delete(collection, f"v{number}", by=self.sender)

    def restore(self):
        self.services.trash.restore(*self._entry(), by=self.sender)

    def end(self):
        self.services.trash.end(*self._entry(), by=self.sender)

    def pin(self):
        collection, number = self._version()
        version = self.services.versions.find(collection, f"v{number}")
        change = VersionChange(pinned=not version.pinned)
        self.services.version_edits.edit(collection, version.id, change, by=self.sender)

    def lock(self):
        change = CollectionChange(limits={}, locked=timedelta(days=self.draw.randint(1, 3)))
        self.services.collections.edit(self.collections[0], change, by=self.sender)

    def move(self):
        """Give a collection another storage, and move what it has."""
        collection = self.draw.choice(self.collections)
        change = CollectionChange(limits={}, storage=self.draw.choice(["archive", "", "second", "local"]))
        self.services.collections.edit(collection, change, by=self.sender)
        self.services.collection_moves.request(collection)
        self.run("migrate")

    def promote(self):
        target = self.draw.choice(["second", "local"])
        plan = self.services.promotions.plan(target)
        if not plan.loss.contents:
            self.services.promotions.promote(plan)
            if self.draw.random() < 0.5:
                self.services.promotions.switch_rows()

    def merge(self):
        """Read back what was deleted some days ago, as trash."""
        at = self.now - timedelta(days=self.draw.randint(0, 6))
        with self.services.merge(self.draw.choice(["second", "local"]), lambda text: None, at=at) as merging:
            merging.run(merging.find(), by=None)

    def damage(self):
        """Delete or overwrite some contents on one side, when both have everything."""
        self.settle()
        folder = self.draw.choice(self.folders)
        paths = [path for path in sorted(folder.glob("??/*")) if path.name.partition("-")[0] in self.used()]
        for path in self.draw.sample(paths, min(2, len(paths))):
            path.unlink() if self.draw.random() < 0.5 else path.write_bytes(b"x" * path.stat().st_size)

    def work(self):
        """Run a job, as the worker does."""
        self.run(self.draw.choice(["mirror", "mirror", "sweep", "verify", "trash", "journal", "catalogue", "migrate"]))

    def wait(self):
        self.run("journal")
        self.now += timedelta(hours=self.draw.choice([1, 13, 49]))

    def settle(self):
        """Let all damage be found and repaired, on both sides."""
        for _ in range(2):
            for job in ("mirror", "mirror"):
                due = update(BlobCopy).where(BlobCopy.state.in_(["wanted", "missing", "damaged"]))
                self.services.database.execute(due.values(next_try=self.now))
                self.run(job)
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

    def stored(self):
        """Return the digests of the contents that have their right bytes in at least one storage."""
        return {
            path.name.partition("-")[0]
            for folder in self.folders
            for path in folder.glob("??/*")
            if path.read_bytes() == self.contents.get(path.name.partition("-")[0])
        }

    def check(self):
        """What is listed or in the trash is in a storage, and what had a copy stays there until its delay is over."""
        used, stored = self.used(), self.stored()
        assert used <= stored, " ".join(self.log)
        for digest in used:
            self.gone_at.pop(digest, None)
        for digest in self.copied - used:
            self.gone_at.setdefault(digest, self.now)
        early = {digest for digest, at in self.gone_at.items() if self.now - at < DELAY} - stored
        assert not early, self.log
        with self.services.database.reading() as session:
            present = select(BlobCopy.digest).where(BlobCopy.state == "present", BlobCopy.blob_id.is_not(None))
            self.copied = used & set(session.scalars(present))


STEPS_OF_A_HISTORY = [
    *("push",) * 4,
    *("work",) * 6,
    *("wait",) * 3,
    *("delete", "delete", "restore", "end", "pin", "lock", "move", "promote", "merge", "damage"),
]


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_no_history_loses_a_dump_or_a_second_copy(
    services, sender, make_collection, push, run, tmp_path, monkeypatch, seed
):
    folders = [tmp_path / name for name in ("storage", "second", "archive")]
    services.copy_reads.notes._start = lambda work: work()
    history = History(services, sender, make_collection, push, run, folders, seed)
    monkeypatch.setattr(types, "datetime", clock_of(lambda: datetime.timestamp(history.now)))

    run("catalogue")
    for _ in range(STEPS):
        history.step()
    history.settle()
    history.settle()

    for lost in folders:
        lost.rename(tmp_path / "away")
        assert history.used() <= history.stored(), (lost, history.log)
        (tmp_path / "away").rename(lost)
    assert {name for name, _ in history.tried} >= {"push", "work", "wait"}
