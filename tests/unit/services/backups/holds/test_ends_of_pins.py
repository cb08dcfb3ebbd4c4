"""Pins with an end and a reason: the job that ends them, and the list of all pinned versions."""

from datetime import timedelta

import pytest

from frepo_core.db import utc_now
from frepo_core.db.models import Collection, Event
from frepo_core.domain.identity import Actor
from frepo_core.services.backups.holds.pins import end_pins
from frepo_core.services.backups.versions.version_edits import VersionChange
from frepo_core.services.base.keyset import PageRequest

REASON = "accounts of 2026"


@pytest.fixture
def until():
    return utc_now() + timedelta(days=90)


@pytest.fixture
def pin(edit):
    def pin(collection, number, **values):
        return edit(collection, number, VersionChange(pinned=True, pin=values))

    return pin


@pytest.fixture
def end(services):
    """End the pins whose time is over at a moment; return their number."""

    def end(now):
        return end_pins(services.database, now=now, by=Actor(name="system:pins"), keep_going=lambda: None)

    return end


@pytest.fixture
def pin_events(services):
    def pin_events():
        with services.database.reading() as session:
            rows = session.query(Event).filter(Event.kind.like("version.%pinned")).order_by(Event.id)
            keys = ("pinned_until", "pin_reason", "ended")
            return [(row.kind, row.actor, {key: row.data[key] for key in keys if key in row.data}) for row in rows]

    return pin_events


@pytest.mark.databases
def test_a_pin_ends_by_the_job_and_the_next_upload_evicts_the_version(
    services, make_collection, push, numbers, pin, end, until, pin_events
):
    collection, other = make_collection(2), make_collection(3)
    for content in (b"1", b"22"):
        push(collection, content)
    push(other, b"1")
    pinned = pin(collection, 1, until=until, reason=REASON)
    pin(other, 1)
    push(collection, b"333")

    assert (until, REASON) == (pinned.pinned_until, pinned.pin_reason)
    assert (0, [1, 3]) == (end(until - timedelta(seconds=1)), numbers(collection))
    assert (1, 0) == (end(until), end(until))

    record, version = services.collections.get(collection), services.versions.find(collection, "v1")
    assert (0, 0) == (record.pinned_count, record.pinned_size)
    assert (False, None, "") == (version.pinned, version.pinned_until, version.pin_reason)
    assert [1, 3] == numbers(collection)
    push(collection, b"4444")
    assert [3, 4] == numbers(collection)
    assert services.versions.find(other, "v1").pinned
    assert ("version.unpinned", "system:pins", {"pin_reason": REASON, "ended": True}) == pin_events()[-1]


def test_the_end_and_the_reason_of_a_pin_are_changed(services, make_collection, push, pin, edit, until, pin_events):
    collection = make_collection(3)
    push(collection, b"1")
    pin(collection, 1, reason="first")
    pin(collection, 1, until=until)
    changed = edit(collection, 1, VersionChange(pin={"reason": "second"}))
    pin(collection, 1, until=until)  # as it is: no event

    assert (until, "second") == (changed.pinned_until, changed.pin_reason)
    assert pin(collection, 1, until=None).pinned_until is None
    assert 1 == services.collections.get(collection).pinned_count
    assert 4 == len(pin_events())


@pytest.mark.databases
def test_all_pinned_versions_are_listed_in_pages(services, make_collection, push, pin, until):
    collections = sorted(make_collection(9) for _ in range(3))
    for collection in collections:
        for number in range(1, 4):
            push(collection, b"%d" % number)
        pin(collection, 1)
        pin(collection, 3, until=until, reason=REASON)
    expected = [(one, number) for one in collections for number in (1, 3)]

    found, after = [], None
    while True:
        page = services.pins.page(PageRequest(limit=2, after=after), by=None)
        found += [(one.collection.id, one.version.number) for one in page.items]
        if (after := page.next) is None:
            break

    assert expected == found == [(one.collection.id, one.version.number) for one in services.pins.list()]


def test_many_pins_of_one_collection_end(services, make_collection, push, end, until, monkeypatch):
    monkeypatch.setattr("frepo_core.services.backups.holds.pins.BATCH", 2)
    collection = make_collection(9)
    for number in range(5):
        version = push(collection, b"%d" % number).version
        change = VersionChange(pinned=True, pin={"until": until})
        services.version_edits.edit(collection, version.id, change, by=None)

    assert 5 == end(until)
    with services.database.reading() as session:
        assert 0 == session.get(Collection, collection).pinned_count
