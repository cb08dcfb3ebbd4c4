"""Collections on hold: no door removes a version, limits evict nothing, and each door opens at the end."""

import pytest
from sqlalchemy import select

from frepo_core.db import types
from frepo_core.db.models import TrashEntry, Version
from frepo_core.domain.identity import Actor
from frepo_core.errors import CollectionFullError, CollectionHeldError
from frepo_core.services.backups.collections.states import BackupState
from frepo_core.services.backups.rows.collection_rows import lock_collection
from frepo_core.services.backups.rows.version_rows import delete_versions, select_with_files
from frepo_core.services.backups.trash.expiry import end_expired
from frepo_core.services.backups.versions.bulk_deletion import BulkDeletion
from frepo_core.services.backups.versions.version_checks import NewCheck
from frepo_core.services.backups.versions.version_edits import VersionChange

from .conftest import DAY

BY = Actor(name="system:test")
WHY = "case 4711"


@pytest.fixture
def hold(services, sender):
    return lambda collection: services.holds.set(collection, WHY, by=sender)


@pytest.fixture
def found(services):
    """Return the numbers of the versions of a collection, and those in its trash, whose contents can be read."""

    def found(collection):
        with services.database.reading() as session:
            rows = session.scalars(select(Version).where(Version.collection_id == collection)).all()
            trash = session.scalars(select(TrashEntry).where(TrashEntry.collection_id == collection)).all()
            for row in (*(one.file.blob for one in rows), *(one.blob for one in trash)):
                assert services.backends.get(row.place.storage).stat(row.place.key).size == row.size
            return sorted(one.number for one in rows), sorted(one.number for one in trash)

    return found


@pytest.fixture
def by_job(services):
    """End what is over in the trash after some time, as its job does."""

    def by_job(later):
        moment = types.utc_now() + later
        with types.simulated_time(moment):
            end_expired(services.database, services.blobs, now=moment, by=BY, keep_going=lambda: None)

    return by_job


@pytest.mark.databases
@pytest.mark.slow
def test_no_door_removes_what_is_on_hold_and_each_opens_when_the_hold_is_ended(
    services, make_collection, push, found, sender, hold, by_job
):
    bulk = BulkDeletion(services.database, services.blobs, services.policies, 7 * DAY)

    def full(strategy="keep"):
        def make():
            collection = make_collection(2, strategy=strategy)
            push(collection, b"good 1"), push(collection, b"good 2")
            return collection

        return make

    def in_trash():
        collection = make_collection(1)
        push(collection, b"good 1" + collection.encode()), push(collection, b"good 2" + collection.encode())
        return collection

    def emptied():
        collection = in_trash()
        services.versions.delete(collection, "v2", by=sender)
        return collection

    def quarantined(word):
        def make():
            collection = make_collection(9)
            for number in (1, 2):
                push(collection, f"{word} {number}".encode())
            return collection

        return make

    def upload(word):
        return lambda collection: push(collection, f"{word} 3".encode())

    refused, passed = True, False
    doors = {
        "eviction": (full("delete_oldest_when_adding_new"), upload("good"), passed),
        "eviction by keep": (full(), upload("good"), passed),
        "eviction by a third party": (full("greedy"), upload("good"), passed),
        "deletion": (full(), lambda one: services.versions.delete(one, "v1", by=sender), refused),
        "deletion in the console": (full(), lambda one: services.versions.delete(one, "v1"), refused),
        "deletion by a plug-in": (full(), lambda one: bulk.delete(one, [1], by=BY, reason="old"), passed),
        "deletion for good": (full(), lambda one: bulk.delete(one, [1], by=BY, reason="x", to_trash=False), passed),
        "deletion of the collection": (
            full(),
            lambda one: services.collections.delete(one, by=sender, with_versions=True),
            refused,
        ),
        "deletion of an empty collection": (
            emptied,
            lambda one: services.collections.delete(one, by=sender),
            refused,
        ),
        "the end of an entry of the trash": (in_trash, lambda one: services.trash.end(one, 1, by=sender), refused),
        "emptying the trash": (in_trash, lambda one: services.trash.end(one, by=sender), refused),
        "the end of the time in the trash": (in_trash, lambda one: by_job(8 * DAY), passed),
        "a full storage": (in_trash, lambda one: services.early_ending.give_way(10**6, by=BY), passed),
        "the surplus of the quarantine": (quarantined("broken"), upload("broken"), passed),
        "the surplus of pending versions": (quarantined("pending"), upload("pending"), passed),
    }
    for name, (make, leave, is_refused) in doors.items():
        collection = make()
        hold(collection)
        versions, trash = found(collection)
        if is_refused:
            with pytest.raises(CollectionHeldError) as error:
                leave(collection)
            assert WHY in str(error.value.explanation), name
        else:
            leave(collection)
        kept = found(collection)
        assert set(versions) <= set(kept[0]), name
        assert trash == kept[1], name
        services.holds.end(collection, by=sender)
        leave(collection)
        after = found(collection) if name != "deletion of an empty collection" else None
        assert kept != after, name


@pytest.mark.databases
def test_the_last_gate_refuses_whoever_asks(services, make_collection, push, hold):
    """What forgot to ask about the hold removes nothing."""
    collection = make_collection(2)
    push(collection, b"good 1")
    hold(collection)

    def work(session):
        row = lock_collection(session, collection)
        delete_versions(session, row, session.scalars(select_with_files()).all())

    with pytest.raises(CollectionHeldError):
        services.database.write(work)


@pytest.mark.databases
def test_only_the_limit_of_the_size_refuses_and_it_names_the_hold(services, make_collection, push, hold):
    collection = make_collection(2, limits={"total_size": 65, "version_size": 30})
    for number in range(1, 3):
        push(collection, f"good {number}".encode() + b"-" * 10)
    hold(collection)
    push(collection, b"broken 3" + b"-" * 10), push(collection, b"good 4" + b"-" * 4)

    for word in (b"good 5", b"broken 5"):
        with pytest.raises(CollectionFullError) as refused:
            push(collection, word)

        assert WHY in str(refused.value.explanation)
        assert (4007, "new_version_makes_collection_too_big_on_disk") == (refused.value.number, refused.value.text)
    found = services.collection_states.read([collection])[collection]
    assert BackupState.FULL in found.states
    assert WHY in found.reason
    assert 3 == services.collections.get(collection).versions_count


def test_a_late_verdict_and_a_release_evict_nothing(services, make_collection, push, found, hold, edit):
    collection = make_collection(1)
    push(collection, b"pending 1")
    push(collection, b"good 2")
    push(collection, b"broken 3")
    hold(collection)
    waiting = services.versions.find(collection, "v1")
    services.late_results.record(waiting.id, NewCheck(name="look", outcome="good", message="later"), by=BY)
    edit(collection, 3, VersionChange(releases=True))

    assert ([1, 2, 3], []) == found(collection)


def test_what_a_hold_has_kept_in_the_trash_stays_for_a_week_after_its_end(
    services, make_collection, push, found, sender, hold, by_job, host
):
    collection = make_collection(1)
    push(collection, b"good 1"), push(collection, b"good 2")
    hold(collection)
    host.pass_time(30 * DAY)
    services.holds.end(collection, by=sender)

    by_job(6 * DAY)
    assert ([2], [1]) == found(collection)
    by_job(8 * DAY)
    assert ([2], []) == found(collection)


@pytest.mark.databases
def test_the_trash_of_others_does_not_give_way_for_a_collection_on_hold(
    services, make_collection, push, found, sender, hold, monkeypatch
):
    collection, other = make_collection(1), make_collection(1)
    push(other, b"good 1"), push(other, b"good 2")
    hold(collection)
    room = services.arrivals.room(services.collections.get(collection), sender)

    assert not room.take(1, arrived=10)
    assert ([2], [1]) == found(other)
    services.holds.end(collection, by=sender)
    room = services.arrivals.room(services.collections.get(collection), sender)
    assert room.take(1, arrived=10)
    assert ([2], []) == found(other)


def test_a_hold_has_one_author_and_ends_once(services, make_collection, sender, identify, hold):
    collection = make_collection(1)
    first = hold(collection).hold
    again = services.holds.set(collection, "another reason", by=identify())

    assert (first.since, first.by, "another reason") == (again.hold.since, again.hold.by, again.hold.reason)
    assert [collection] == [one.id for one in services.holds.list()]
    assert services.holds.end(collection, by=sender).hold is None
    assert services.holds.end(collection, by=sender).hold is None
    assert [] == services.holds.list()
