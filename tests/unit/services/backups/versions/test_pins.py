"""Pinned versions: no strategy and no request deletes them, and the limits keep room for others."""

import pytest
from sqlalchemy import delete

from frepo_core.db.models import Collection, Event, Version
from frepo_core.domain.limits import COUNT, ONE, TOTAL
from frepo_core.errors import (
    CollectionFullError,
    CollectionNotEmptyError,
    NotFoundError,
    PinsLeaveNoRoomError,
    TooManyVersionsError,
    VersionPinnedError,
    VersionQuarantinedError,
)
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.versions.version_edits import VersionChange

PIN, UNPIN = VersionChange(pinned=True), VersionChange(pinned=False)


@pytest.fixture
def counters(services):
    """Return how many versions a collection has and their bytes, and the same for the pinned ones."""

    def counters(collection):
        row = services.collections.get(collection)
        return row.versions_count, row.stored_size, row.pinned_count, row.pinned_size

    return counters


@pytest.fixture
def kinds(services):
    def kinds():
        with services.database.reading() as session:
            found = session.query(Event.kind).filter(Event.kind.like("version.%")).order_by(Event.id)
            return [kind for (kind,) in found if kind != "version.added"]

    return kinds


def fill(push, collection, *contents):
    for content in contents:
        push(collection, content)


@pytest.mark.databases
def test_a_pinned_version_is_not_evicted(make_collection, push, numbers, counters, edit, kinds):
    collection = make_collection(3)
    fill(push, collection, b"1", b"22", b"333")
    assert edit(collection, 1, PIN).pinned
    assert (3, 6, 1, 1) == counters(collection)
    fill(push, collection, b"4444", b"55555")

    assert [1, 4, 5] == numbers(collection)
    assert (3, 10, 1, 1) == counters(collection)
    edit(collection, 1, UNPIN)
    assert (3, 10, 0, 0) == counters(collection)
    push(collection, b"6")
    assert [4, 5, 6] == numbers(collection)
    evicted = "version.evicted"
    assert ["version.pinned", evicted, evicted, "version.unpinned", evicted] == kinds()


def test_what_is_so_already_has_no_event(make_collection, push, counters, edit, kinds):
    collection = make_collection(3)
    push(collection, b"1")
    for change in (UNPIN, PIN, PIN, VersionChange(note="a"), VersionChange(note="a"), VersionChange(releases=True)):
        edit(collection, 1, change)

    assert (1, 1, 1, 1) == counters(collection)
    assert ["version.pinned", "version.noted"] == kinds()


def test_a_pinned_version_is_not_deleted(services, make_collection, push, numbers, edit):
    for name in ["v1", "id"]:
        collection = make_collection(3)
        fill(push, collection, b"1", b"22")
        edit(collection, 1, PIN)
        name = services.versions.find(collection, "v1").id if name == "id" else name
        for simulate in (False, True):
            with pytest.raises(VersionPinnedError):
                services.versions.delete(collection, name, simulate=simulate)

        assert [1, 2] == numbers(collection), name
        edit(collection, 1, UNPIN)
        services.versions.delete(collection, name)
        assert [2] == numbers(collection), name


def test_a_collection_with_a_pinned_version_is_not_deleted(services, make_collection, push, sender, edit):
    collection = make_collection(3)
    push(collection, b"1")
    edit(collection, 1, PIN)

    with pytest.raises(CollectionNotEmptyError):
        services.collections.delete(collection, by=sender)


def test_pins_leave_room_for_a_version_of_the_size_of_the_newest(make_collection, push, counters, numbers, edit):
    for limits, sizes, allowed in [
        ({COUNT: 2}, (1, 1), 1),
        ({COUNT: 1}, (1,), 0),
        ({COUNT: 0}, (1, 1, 1), 3),
        # After each pin there is room for a version of the size of the newest one, 3 bytes.
        ({COUNT: 0, ONE: 0, TOTAL: 9}, (3, 3, 3), 2),
        ({COUNT: 0, ONE: 0, TOTAL: 8}, (2, 3, 3), 2),
        ({COUNT: 0, ONE: 0, TOTAL: 3}, (3,), 0),
    ]:
        collection = make_collection(limits=limits)
        fill(push, collection, *(bytes([number]) * size for number, size in enumerate(sizes)))
        for number in range(1, allowed + 1):
            edit(collection, number, PIN)
        if allowed < len(sizes):
            with pytest.raises(PinsLeaveNoRoomError):
                edit(collection, allowed + 1, PIN)

        assert allowed == counters(collection)[2]
        push(collection, b"x" * sizes[-1])
        assert set(range(1, allowed + 1)) < set(numbers(collection))


def test_limits_are_not_lowered_below_what_pins_need(services, make_collection, push, sender, edit):
    for limits, lower in [
        ({COUNT: 3}, {COUNT: 1}),
        ({ONE: 0, TOTAL: 9}, {TOTAL: 7}),
        ({ONE: 0, TOTAL: 9}, {TOTAL: 7, COUNT: 9}),
    ]:
        collection = make_collection(limits=limits)
        fill(push, collection, b"444", b"4444")
        edit(collection, 2, PIN)
        with pytest.raises(PinsLeaveNoRoomError):
            services.collections.edit(collection, CollectionChange(limits=lower), by=sender)

        services.collections.edit(collection, CollectionChange(limits=limits | {COUNT: 10}), by=sender)


def test_uploads_are_refused_if_pins_leave_no_room_any_more(make_collection, push, edit, counters, services):
    collection = make_collection(limits={COUNT: 0, ONE: 0, TOTAL: 6})
    fill(push, collection, b"333", b"22")
    edit(collection, 1, PIN)
    with pytest.raises(CollectionFullError):
        push(collection, b"4444")
    assert (2, 5, 1, 3) == counters(collection)
    with services.database.engine.begin() as connection:
        connection.execute(Collection.__table__.update().values(max_backups_count=1))
    with pytest.raises(TooManyVersionsError):
        push(collection, b"1")


def test_a_version_in_quarantine_is_pinned_only_with_its_release(make_collection, push, edit, counters):
    collection = make_collection(3, guards={"min_version_size": 2, "action": "quarantine"})
    push(collection, b"1")
    with pytest.raises(VersionQuarantinedError):
        edit(collection, 1, PIN)
    assert (0, 0, 0, 0) == counters(collection)

    released = edit(collection, 1, VersionChange(pinned=True, releases=True, note="right"))

    assert (True, None, "right") == (released.pinned, released.quarantined_at, released.note)
    assert (1, 1, 1, 1) == counters(collection)


def test_a_version_that_was_deleted_meanwhile_is_not_edited(services, make_collection, push, sender):
    collection = make_collection(3)
    version = push(collection, b"1").version
    with services.database.engine.begin() as connection:
        connection.execute(delete(Version))

    with pytest.raises(NotFoundError):
        services.version_edits.edit(collection, version.id, PIN, by=sender)


@pytest.mark.slow
@pytest.mark.databases
def test_counters_are_right_after_pins_releases_and_uploads_at_the_same_time(
    services, make_collection, push, sender, at_once
):
    """Threads pin, unpin, release, delete and upload; the counters agree with the rows, and a pin survives."""
    guards = {"min_version_size": 2, "action": "quarantine"}
    collection = make_collection(6, guards=guards)
    fill(push, collection, *(b"%d%d" % (number, number) for number in range(5)))
    first = services.versions.find(collection, "v1").id
    services.version_edits.edit(collection, first, PIN, by=sender)

    def change(number):
        for step in range(4):
            push(collection, b"%d-%d" % (number, step))
            small = push(collection, b"s").version
            other = services.versions.list(collection)[-1 - number % 3]
            for change in (VersionChange(releases=True), PIN, UNPIN):
                try:
                    services.version_edits.edit(collection, small.id, change, by=sender)
                    services.version_edits.edit(collection, other.id, change, by=sender)
                except (NotFoundError, PinsLeaveNoRoomError, VersionQuarantinedError):
                    pass

    assert [None] * 3 == at_once(change, range(3))
    row = services.collections.get(collection)
    found = services.versions.list(collection)
    counted = [version for version in found if version.quarantined_at is None]
    pinned = [version for version in counted if version.pinned]
    quarantined = [version for version in found if version.quarantined_at is not None]
    assert (len(counted), sum(version.file.blob.size for version in counted)) == (row.versions_count, row.stored_size)
    assert (len(pinned), sum(version.file.blob.size for version in pinned)) == (row.pinned_count, row.pinned_size)
    size = sum(version.file.blob.size for version in quarantined)
    assert (len(quarantined), size) == (row.quarantined_count, row.quarantined_size)
    assert first in {version.id for version in pinned}
    # Two that are too small, and two that others of the same token have overtaken.
    assert len(quarantined) <= 4
    assert len(counted) <= 6
