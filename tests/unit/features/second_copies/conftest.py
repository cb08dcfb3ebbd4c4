"""Fixtures: a service with a second copy of each content in `second`, a local directory."""

from dataclasses import dataclass
from io import BytesIO

import pytest
from sqlalchemy import select, update

from frepo_core.db import utc_now
from frepo_core.db.models import Event, StoredObject
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.content.objects.states import ObjectState
from frepo_core.services.files.files import NewFile
from frepo_core.services.upkeep.storage import OwnerMark
from frepo_core.testing import FaultyStorage
from support.encodings.stored import StoredBlobs


@pytest.fixture
def ini(ini, tmp_path):
    more = {"storages": "second", "storage.second.adapter": "local", "storage.second.directory": tmp_path / "second"}
    mirror = {"mirror": "second", "mirror.rate": "0", "mirror.delete_delay": "0s", "trash.keep": "0s"}
    return ini | mirror | {name: str(value) for name, value in more.items()}


@dataclass
class Second:
    """The second storage: its keys, and the rows of copies."""

    services: object

    @property
    def backend(self):
        return self.services.backends.get("second")

    def stored(self):
        return sorted(stat.key for stat in self.backend.list() if OwnerMark.parse(stat.key) is None)

    def rows(self):
        with self.services.database.reading() as session:
            copies = select(StoredObject).where(StoredObject.storage != "local")
            return session.scalars(copies.order_by(StoredObject.id)).all()

    def current(self):
        """The rows of the current objects, in the order of their contents."""
        return sorted((row for row in self.rows() if row.slot), key=lambda row: row.content_id)

    def states(self):
        return [row.state for row in self.rows()]

    def present_keys(self):
        return sorted(row.key for row in self.rows() if row.state == ObjectState.PRESENT)

    def make_due(self):
        """Let all pauses after failures be over."""
        due = update(StoredObject).where(StoredObject.state != ObjectState.GONE).values(next_try=utc_now())
        self.services.database.execute(due)

    def fail(self, *faults):
        faulty = FaultyStorage(self.backend, *faults)
        self.services.backends._built["second"] = faulty
        return faulty


@pytest.fixture
def second(services):
    return Second(services)


@pytest.fixture
def mirror(services, run):
    """Run the job; return its summary."""

    def mirror():
        services.backends.breaker.worked("second")
        return run("mirror")

    return mirror


@pytest.fixture
def read(services):
    """Read a file as a download does."""

    def read(file):
        blob = services.files.find(file.stored_name).blob
        with services.stored_content.open(blob) as content:
            return content.read()

    return read


@pytest.fixture
def delete(services, by):
    return lambda file: services.files.delete(file.stored_name, "", by=by)


@pytest.fixture
def blob_of(services):
    def blob_of(file):
        with services.database.reading() as session:
            first = (StoredObject.content_id == file.blob.id, StoredObject.slot == 1, StoredObject.role == "first")
            return session.scalar(select(StoredObject).where(*first))

    return blob_of


@pytest.fixture
def kinds(services):
    """The kinds of all events, in order."""

    def kinds():
        with services.database.reading() as session:
            return session.scalars(select(Event.kind).order_by(Event.id)).all()

    return kinds


@pytest.fixture
def upload_by(by):
    """Upload a file to a process, whose services are given."""

    def upload(services, content, password=""):
        return services.files.add(
            NewFile(name="a.txt", password=password), Incoming(stream=BytesIO(content)), by=by
        ).file

    return upload


@pytest.fixture
def blobs(services):
    """What encodes contents as the job does; what a reader finds damaged is noted at once."""
    services.object_reads.notes._start = lambda work: work()
    return StoredBlobs(services)
