"""What may happen to collections with several storages, drawn at random. Tests add steps and checks of their own."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta

from sqlalchemy import select, update

from frepo_core.db import clock, types
from frepo_core.db.models import StoredObject, TrashEntry, Version
from frepo_core.errors import FrepoError
from frepo_core.features.moves.feature import MoveServices
from frepo_core.features.second_copies.feature import SecondCopyServices
from frepo_core.services.backups.rows import locks
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.versions.version_edits import VersionChange
from frepo_core.services.upkeep.storage import verify, verify_copies
from support.histories.stored_bytes import FolderBytes
from support.reliability.clock import clock_of

JOBS = ["mirror", "mirror", "sweep", "verify", "trash", "journal", "catalogue", "migrate"]


class RandomHistory:
    """The storages `local`, or how else the first one is called, `second` and `archive`, and collections of a test.

    `tried` counts what was done and what was refused; `log` has the names of the steps. `damaged` are the digests of
    contents of which an object was damaged.
    """

    def __init__(self, services, by, run, folders, seed):
        self.services, self.by, self.run, self.folders = services, by, run, folders
        self.first = services.backends.setting
        self.bytes = [FolderBytes(folder) for folder in folders]
        self.draw = random.Random(seed)
        self.now = datetime(2028, 2, 25, 2, tzinfo=UTC)
        self.collections, self.contents = [], {}
        self.damaged = set()
        self.log, self.tried = [], Counter()

    def begin(self, monkeypatch):
        """Let the service and its database live in the time of the history, and note at once what its reads find."""
        self.services.object_reads.notes._start = lambda work: work()
        monkeypatch.setattr(types, "datetime", clock_of(lambda: datetime.timestamp(self.now)))
        # A server of databases has a clock of its own, in which nothing would ever be due.
        monkeypatch.setattr(self.services.database, "_clock_query", None)
        for module in (clock, locks):
            monkeypatch.setattr(module, "clock_query", lambda dialect: None)
        self.run("catalogue")

    def step(self, names):
        name = self.draw.choice(names)
        self.log.append(name)
        try:
            getattr(self, name)()
            self.tried[name, "done"] += 1
        except FrepoError as error:
            self.tried[name, type(error).__name__] += 1
            self.log.append(f"({error})")

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

    def move(self):
        """Give a collection another storage, and move what it has."""
        collection = self.draw.choice(self.collections)
        change = CollectionChange(limits={}, storage=self.draw.choice(["archive", "", "second", self.first]))
        self.services.collections.edit(collection, change, by=self.by)
        self.services.feature(MoveServices).collections.request(collection)
        self.run("migrate")

    def promote(self):
        """Make the other storage the first one, if it has everything."""
        plan = self.services.feature(SecondCopyServices).promotions.plan(self.draw.choice(["second", self.first]))
        if not plan.loss.contents:
            self.services.feature(SecondCopyServices).promotions.promote(plan)

    def damage(self):
        """Delete some objects on one side, or change their bytes, when both have everything."""
        self.settle()
        side = self.draw.choice(self.bytes)
        used = self.used()
        found = [(key, digest) for key, digest in side.find() if digest in used]
        for key, digest in self.draw.sample(found, min(2, len(found))):
            self.damaged.add(digest)
            side.delete(key) if self.draw.random() < 0.4 else side.change(key, self.changed)

    def changed(self, data):
        """Flip a bit of an object."""
        place = self.draw.randrange(len(data))
        return data[:place] + bytes([data[place] ^ 1 << self.draw.randrange(8)]) + data[place + 1 :]

    def work(self):
        """Run a job, as the worker does."""
        self.run(self.draw.choice(JOBS))

    def wait(self):
        self.run("journal")
        self.now += timedelta(hours=self.draw.choice([1, 13, 49]))

    def settle(self, rounds=2):
        """Let all damage be found and repaired, on both sides."""
        for _ in range(rounds):
            for _ in range(2):
                due = update(StoredObject).where(StoredObject.state.in_(["wanted", "missing", "damaged"]))
                self.services.database.execute(due.values(next_try=self.now))
                self.run("mirror")
            self.now += timedelta(hours=1)
            verify(self.services.database, self.services.backends)
            verify_copies(self.services.database, self.services.backends, self.services.copies.storages())
        self.run("mirror")

    def used(self):
        """Return the digests of what is listed or in the trash."""
        with self.services.database.reading() as session:
            versions = session.scalars(select(Version)).all()
            return {row.file.blob.digest for row in versions} | set(session.scalars(select(TrashEntry.digest)))

    def _version(self):
        return self._one_of(Version, "there is no version")

    def _entry(self):
        return self._one_of(TrashEntry, "the trash is empty")

    def _one_of(self, model, nothing):
        with self.services.database.reading() as session:
            rows = session.execute(select(model.collection_id, model.number).order_by(model.id)).all()
        if not rows:
            raise FrepoError(nothing)
        return self.draw.choice(rows)
