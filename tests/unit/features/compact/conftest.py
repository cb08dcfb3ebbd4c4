"""Fixtures: a collection to which a dump is pushed each night, the job, and what is stored afterwards."""

from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest
from sqlalchemy import select

from frepo_core.db.models import File, StoredObject, TrashEntry, Version
from frepo_core.db.types import simulated_time
from frepo_core.domain.limits import COUNT
from frepo_core.features.compact import encoder_process
from frepo_core.features.compact.planned_content import Encoding
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.upkeep.storage import OwnerMark
from support.encodings.nights import nights

START = datetime(2026, 1, 1, 2, tzinfo=UTC)
ROWS = 1500


@pytest.fixture
def ini(ini):
    return ini | {"compact": "true", "compact.rate": "0", "trash.keep": "2d", "worker.in_process": "false"}


@pytest.fixture(autouse=True)
def usual_priority(monkeypatch):
    """Encode at the priority of the tests, which run next to others."""
    monkeypatch.setattr(encoder_process, "NICENESS", 0)


class Nights:
    """Collections in a simulated time, and the contents of their versions by number."""

    def __init__(self, services, run, by):
        self.services, self.run_job, self.by = services, run, by
        self.time = START
        self.contents = {}
        self._dumps = nights(400, ROWS)

    def make(self, count=0, **more):
        change = CollectionChange(limits={COUNT: count}, filename="dump.sql", **more)
        with simulated_time(self.time):
            name = self.services.collections.create(change, by=self.by).id
        self.contents[name] = {}
        return name

    def dump(self):
        return next(self._dumps)

    def push(self, collection, content=None, **time):
        """Push a version a day later, or after this time; return its number."""
        self.time += timedelta(**time) if time else timedelta(days=1)
        content = self.dump() if content is None else content
        with simulated_time(self.time):
            facts = self.services.collections.get(collection)
            added = self.services.add_version.add(facts, Incoming(stream=BytesIO(content)), by=self.by)
        self.contents[collection][added.version.number] = content
        return added.version.number

    def delete(self, collection, *names):
        with simulated_time(self.time):
            for name in names:
                self.services.versions.delete(collection, name, by=self.by)

    def job(self, name="compact", **later):
        """Run a job eight hours after the last upload."""
        with simulated_time(self.time + timedelta(**(later or {"hours": 8}))):
            return self.run_job(name)

    def night(self, collection, content=None):
        self.push(collection, content)
        self.job("trash")
        return self.job()

    def rows(self, collection):
        """The rows of the blobs by the numbers of the versions that are there."""
        with self.services.database.reading() as session:
            query = (
                select(Version.number, StoredObject)
                .join(File, File.id == Version.file_id)
                .join(StoredObject, StoredObject.content_id == File.content_id)
            )
            first = (StoredObject.slot == 1, StoredObject.role == "first", Version.collection_id == collection)
            found = session.execute(query.where(*first).order_by(Version.number))
            return {number: blob for number, blob in found}

    def encodings(self, collection):
        return [row.encoding for row in self.rows(collection).values()]

    def check(self):
        """Read every version and every entry of the trash. No chain is too long, and no object is left over."""
        for collection, contents in self.contents.items():
            for number, row in self.rows(collection).items():
                assert contents[number] == self.read(row), (collection, number)
        with self.services.database.reading() as session:
            first = (StoredObject.slot == 1, StoredObject.role == "first")
            blobs = {row.content_id: row for row in session.scalars(select(StoredObject).where(*first))}
            by_digest = {row.digest: row for row in blobs.values()}
            trash = session.execute(select(TrashEntry.collection_id, TrashEntry.number, TrashEntry.content_id)).all()
            replaced = set(session.scalars(select(StoredObject.key).where(StoredObject.state == "superseded")))
        for collection, number, content_id in trash:
            assert self.contents[collection][number] == self.read(blobs[content_id])
        for row in blobs.values():
            depth = 0
            while row.base_digest is not None:
                row, depth = by_digest[row.base_digest], depth + 1
            assert depth <= self.services.settings.compact_depth
        backend = self.services.backends.get(self.services.backends.current)
        keys = {stat.key for stat in backend.list() if OwnerMark.parse(stat.key) is None}
        known = {row.key for row in blobs.values()} | replaced
        assert known == keys

    def read(self, row):
        with self.services.chain_reader.open(row, is_verified=True) as content:
            parts = []
            while part := content.read(1 << 20):
                parts.append(part)
            return b"".join(parts)

    def deltas(self, collection):
        return [number for number, row in self.rows(collection).items() if row.encoding == Encoding.DELTA]


@pytest.fixture
def history(services, run, by):
    return Nights(services, run, by)
