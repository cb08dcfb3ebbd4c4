"""What plug-ins read about events: in the order of commits, by kind, and counted."""

from datetime import timedelta

import pytest
from sqlalchemy import insert

from frepo_core.db import utc_now
from frepo_core.db.models import Event

NOW = utc_now()


@pytest.fixture
def service(services):
    return next(iter(services.contexts.values())).service


@pytest.fixture
def happened(services):
    """Insert events: `happened(kind, position=..., ...)`."""

    def insert_event(kind, **more):
        fields = {"at": NOW, "actor": "system:test", "data": {}} | more
        services.database.write(lambda session: session.execute(insert(Event), [{"kind": kind} | fields]))

    return insert_event


@pytest.mark.databases
def test_events_are_read_in_the_order_of_commits_and_by_kind(service, happened):
    happened("version.added", position=2, collection_id="c0", version_number=4, file_id=9, data={"size": 3})
    happened("job.failed", position=1, actor_name="Nightly")
    happened("version.refused", position=3)
    happened("version.added")

    assert ["job.failed", "version.added", "version.refused"] == [event.kind for event in service.events()]
    assert [2, 3] == [event.position for event in service.events(kinds=["version.*"])]
    assert [3] == [event.position for event in service.events(after=2)]
    assert [1] == [event.position for event in service.events(limit=1)]
    assert [] == service.events(kinds=["nothing.*"])


def test_an_event_has_what_it_is_about(service, happened):
    happened(
        "version.added",
        position=1,
        actor="ab12",
        actor_name="web",
        collection_id="c0",
        version_number=4,
        data={"size": 3},
    )

    (event,) = service.events()

    assert ("ab12 (web)", "c0", 4, {"size": 3}) == (
        event.actor,
        event.collection_id,
        event.version_number,
        event.data,
    )


@pytest.mark.databases
def test_events_are_counted_since_a_time_with_their_collections(service, happened):
    happened("version.added", at=NOW - timedelta(days=2), collection_id="c9")
    for collection in ("c0", "c0", "c1"):
        happened("version.added", collection_id=collection)
    happened("job.failed")

    counts = service.count_events(since=NOW - timedelta(days=1))

    assert {"version.added": (3, 2), "job.failed": (1, 0)} == {
        kind: (count.events, count.collections) for kind, count in counts.items()
    }


def test_a_collection_that_does_not_exist_is_none(service):
    assert service.collection("6f1d2c3e-0000-4000-8000-000000000001") is None
