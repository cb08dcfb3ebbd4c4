"""A collection with two good versions, and what the tests of quarantine look at."""

from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest

from frepo_core.db.models import Event
from frepo_core.services.content.ingest import Incoming
from support.model.quarantine import GOOD, GUARDS


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
        for module in ("versions.version_upload", "rotation.admission"):
            monkeypatch.setattr(f"frepo_core.services.backups.{module}.utc_now", lambda: moment)
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
def events(services):
    """Return the data of the events of a kind about a collection."""

    def events(collection, kind="version.quarantined"):
        with services.database.reading() as session:
            rows = session.query(Event).where(Event.collection_id == collection, Event.kind == kind).order_by(Event.id)
            return [event.data | {"number": event.version_number} for event in rows]

    return events
