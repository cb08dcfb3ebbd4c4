"""A collection with two good versions, and what the tests of quarantine look at."""

from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest

from frepo_core.db.models import Collection, Event
from frepo_core.services.collections.version_edits import VersionChange
from frepo_core.services.content.ingest import Incoming

GOOD, SMALL = b"a dump of a hundred rows", b"empty"
GUARDS = {"max_shrink_percent": 50, "action": "quarantine"}
SHRANK = "new_version_shrank_too_much"
RELEASE = VersionChange(releases=True)


@pytest.fixture
def collection(make_collection, push):
    """A full collection with two good versions."""
    collection = make_collection(2, guards=GUARDS)
    push(collection, GOOD + b"1")
    push(collection, GOOD + b"2")
    return collection


@pytest.fixture
def at(monkeypatch):
    """Set the time of uploads: hours after midnight."""

    def at(hours):
        moment = datetime(2026, 11, 1, tzinfo=UTC) + timedelta(hours=hours)
        monkeypatch.setattr("frepo_core.services.collections.add_version.utc_now", lambda: moment)
        return moment

    return at


@pytest.fixture
def push_sized(services, sender):
    """Push a version whose size is known before its content is read."""

    def push_sized(collection, content):
        incoming = Incoming(stream=BytesIO(content), declared_size=len(content))
        return services.add_version.add(services.collections.get(collection), incoming, by=sender)

    return push_sized


@pytest.fixture
def row(services):
    """Return the row of a collection."""

    def row(collection):
        with services.database.reading() as session:
            return session.get(Collection, collection)

    return row


@pytest.fixture
def events(services):
    """Return the data of the events of a kind about a collection."""

    def events(collection, kind="version.quarantined"):
        with services.database.reading() as session:
            rows = session.query(Event).where(Event.collection_id == collection, Event.kind == kind).order_by(Event.id)
            return [event.data | {"number": event.version_number} for event in rows]

    return events


@pytest.fixture
def edit(services, sender):
    def edit(collection, number, change):
        version = services.versions.find(collection, f"v{number}")
        return services.version_edits.edit(collection, version.id, change, by=sender)

    return edit
