"""Locked collections: while a version is locked, no door of the services removes it, and each opens at the end."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import delete, select, update

from frepo_core.db import types
from frepo_core.db.models import Collection, Event, TrashEntry, Version
from frepo_core.domain.identity import Actor
from frepo_core.domain.roles import Role
from frepo_core.errors import (
    AccessDeniedError,
    CollectionNotEmptyError,
    FieldsError,
    LockShortenedError,
    VersionLockedError,
)
from frepo_core.services.backups.collections.states import BackupState
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.trash.expiry import end_expired
from frepo_core.services.backups.versions.version_checks import NewCheck
from frepo_core.services.backups.versions.version_edits import VersionChange

from .conftest import DAY

MONTH = 30 * DAY
BY = Actor(name="system:test")
# After these, the version is where it was.
STAYS = {"unpinning", "an earlier end of a pin", "deletion of an empty collection with its trash"}
PIN, UNPIN = VersionChange(pinned=True), VersionChange(pinned=False)


@pytest.fixture
def lock(services, sender):
    def lock(collection, length=MONTH):
        return services.collections.edit(collection, CollectionChange(limits={}, locked=length), by=sender)

    return lock


@pytest.fixture
def held(services):
    """Return the numbers of the versions of a collection, and those in its trash, whose contents can be read."""

    def held(collection):
        with services.database.reading() as session:
            rows = session.scalars(select(Version).where(Version.collection_id == collection)).all()
            trash = session.scalars(select(TrashEntry).where(TrashEntry.collection_id == collection)).all()
            for row in (*(one.file.blob for one in rows), *(one.blob for one in trash)):
                assert services.backends.get(row.place.storage).stat(row.place.key).size == row.size
            return sorted(one.number for one in rows), sorted(one.number for one in trash)

    return held


@pytest.mark.slow
def test_no_door_removes_a_locked_version_and_each_opens_when_the_lock_is_over(
    services, make_collection, push, edit, held, host, sender, lock
):
    """The doors are those by which versions leave: each is tried while the version is locked, and afterwards."""

    def full(strategy):
        def make():
            collection = make_collection(2, locked=MONTH, strategy=strategy)
            push(collection, b"good 1"), push(collection, b"good 2")
            return collection

        return make

    def pinned(change):
        def make():
            collection = full("keep")()
            edit(collection, 1, change)
            return collection

        return make

    def in_trash():
        collection = make_collection(1)
        push(collection, b"good 1"), push(collection, b"good 2")
        lock(collection)
        return collection

    def emptied():
        collection = make_collection(1)
        push(collection, b"good 1"), push(collection, b"good 2")
        services.versions.delete(collection, "v2", by=sender)
        lock(collection)
        return collection

    def quarantined(word):
        def make():
            collection = make_collection(1, locked=MONTH)
            push(collection, b"good 0")
            host.pass_time(31 * DAY)
            push(collection, f"{word} 1".encode()), push(collection, f"{word} 2".encode())
            return collection

        return make

    def upload(word):
        return lambda collection: push(collection, f"{word} 3".encode())

    later = timedelta(days=365)
    doors = {
        "eviction": (full("delete_oldest_when_adding_new"), upload("good")),
        "eviction by keep": (full("keep"), upload("good")),
        "eviction by a third party": (full("greedy"), upload("good")),
        "deletion": (full("keep"), lambda one: services.versions.delete(one, "v1", by=sender)),
        "deletion in the console": (full("keep"), lambda one: services.versions.delete(one, "v1")),
        "deletion of the collection": (
            full("keep"),
            lambda one: services.collections.delete(one, by=sender, with_versions=True),
        ),
        "unpinning": (pinned(PIN), lambda one: edit(one, 1, UNPIN)),
        "an earlier end of a pin": (
            pinned(VersionChange(pinned=True, pin={"until": host.now + 2 * later})),
            lambda one: edit(one, 1, VersionChange(pin={"until": host.now + later})),
        ),
        "the end of an entry of the trash": (in_trash, lambda one: services.trash.end(one, 1, by=sender)),
        "emptying the trash": (in_trash, lambda one: services.trash.end(one, by=sender)),
        "deletion of an empty collection with its trash": (
            emptied,
            lambda one: services.collections.delete(one, by=sender),
        ),
        "the surplus of the quarantine": (quarantined("broken"), upload("broken")),
        "the surplus of pending versions": (quarantined("pending"), upload("pending")),
    }
    for name, (make, leave) in doors.items():
        collection = make()
        before = held(collection)
        for days in (0, 29):
            host.pass_time(days * DAY)
            with pytest.raises(VersionLockedError) as refused:
                leave(collection)
            assert before == held(collection), name
            assert re.search(r"is locked until 20[0-9-]{8} 02:00:00 UTC", str(refused.value.explanation)), name
        host.pass_time(2 * DAY)
        leave(collection)
        assert before != held(collection) or name in STAYS, name


def test_a_full_locked_collection_is_full_in_the_morning(services, make_collection, push, host):
    for strategy, word in (("delete_oldest_when_adding_new", "good"), ("keep", "broken")):
        collection = make_collection(2, locked=MONTH, strategy=strategy)
        push(collection, f"{word} 1".encode()), push(collection, f"{word} 2".encode())
        with pytest.raises(VersionLockedError):
            push(collection, f"{word} 3".encode())

        state = services.collection_states.read([collection])[collection]
        expected = BackupState.FULL if word == "good" else BackupState.FAILED  # which is worse
        assert expected == state.state
        assert "there is no room for a new version" in state.reason
        host.pass_time(31 * DAY)
        push(collection, b"good 4")
        assert "no room" not in services.collection_states.read([collection])[collection].reason


@pytest.mark.databases
def test_the_jobs_pass_over_what_is_locked(services, make_collection, push, held, lock, by_job):
    collection, other = make_collection(1), make_collection(1)
    for one in (collection, other):
        push(one, b"good 1" * 9 + one.encode()), push(one, b"good 2" * 9 + one.encode())
    lock(collection)

    assert 1 == services.early_ending.give_way(10**6, by=BY).versions
    assert (([2], [1]), ([2], [])) == (held(collection), held(other))
    by_job(timedelta(days=29))
    assert ([2], [1]) == held(collection)
    by_job(timedelta(days=31))
    assert ([2], []) == held(collection)


@pytest.fixture
def by_job(services):
    """End what is over in the trash after some time, as its job does."""

    def by_job(later):
        moment = types.utc_now() + later
        with types.simulated_time(moment):
            end_expired(services.database, services.blobs, now=moment, by=BY, keep_going=lambda: None)

    return by_job


@pytest.mark.databases
def test_a_lock_is_extended_and_never_shortened(services, make_collection, push, lock, sender, events_of):
    collection = make_collection(3)
    push(collection, b"good 1")
    lock(collection)
    version = services.versions.find(collection, "v1")
    assert version.created_at + MONTH == version.locked_until
    for shorter in (MONTH - DAY, timedelta()):
        with pytest.raises(LockShortenedError):
            lock(collection, shorter)
    lock(collection, MONTH)
    push(collection, b"good 2")
    edited = lock(collection, 2 * MONTH)

    assert 2 * MONTH == edited.collection.locked == services.collections.get(collection).locked
    for one in services.versions.list(collection):
        assert one.created_at + 2 * MONTH <= one.locked_until < one.created_at + 2 * MONTH + timedelta(seconds=5)
    assert [{"locked": "P30D"}, {"locked": "P60D"}] == events_of(collection)


@pytest.fixture
def events_of(services):
    """Return what the edits of a collection have changed."""

    def events_of(collection):
        with services.database.reading() as session:
            query = select(Event).where(Event.kind == "collection.edited", Event.collection_id == collection)
            return [row.data["after"] for row in session.scalars(query.order_by(Event.id))]

    return events_of


class TestWithACeiling:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"locks.max": "60d"}

    def test_a_lock_is_not_longer_than_the_service_allows_and_a_longer_one_stays(
        self, services, make_collection, lock, sender
    ):
        collection = make_collection(3)
        for refused in (lambda: lock(collection, 61 * DAY), lambda: make_collection(3, locked=61 * DAY)):
            with pytest.raises(FieldsError) as error:
                refused()
            assert "is at most 60d, as the setting locks.max" in str(error.value.fields["locked"])
        lock(collection, 60 * DAY)
        longer = update(Collection).values(locked=90 * 86_400)
        services.database.execute(longer)

        change = CollectionChange(limits={}, description="as it is", locked=90 * DAY)
        assert 90 * DAY == services.collections.edit(collection, change, by=sender).collection.locked
        with pytest.raises(FieldsError):
            lock(collection, 91 * DAY)


def test_only_the_role_locks_and_a_simulated_edit_locks_nothing(services, make_collection, push, identify, sender):
    collection = make_collection(3)
    push(collection, b"good 1")
    change = CollectionChange(limits={}, locked=MONTH)
    editor = identify(Role.MODIFY_ANY_COLLECTION, Role.CREATE_COLLECTIONS)
    with pytest.raises(AccessDeniedError):
        services.collections.edit(collection, change, by=editor)
    with pytest.raises(AccessDeniedError):
        services.collections.create(CollectionChange(limits={}, filename="a", locked=MONTH), by=editor)
    services.collections.edit(collection, change, by=sender, simulate=True)
    assert services.versions.find(collection, "v1").locked_until is None

    services.collections.edit(collection, change, by=identify(Role.MODIFY_ANY_COLLECTION, Role.LOCK_VERSIONS))
    assert services.versions.find(collection, "v1").locked_until is not None


def test_a_version_that_waits_is_counted_if_it_is_locked(services, make_collection, push, held, sender):
    """Otherwise it would go to the trash itself, because only newer versions could make room for it."""
    collection = make_collection(1, locked=MONTH)
    push(collection, b"pending 1")
    waiting = services.versions.find(collection, "v1")
    push(collection, b"good 2")
    services.late_results.record(waiting.id, NewCheck(name="look", outcome="good", message="later"), by=BY)

    assert ([1, 2], []) == held(collection)
    assert 2 == services.collections.get(collection).versions_count


def test_a_late_verdict_leaves_more_in_quarantine_than_usual(services, make_collection, push, held):
    collection = make_collection(9, locked=MONTH)
    for word in ("good 0", "broken 1", "broken 2", "pending 3"):
        push(collection, word.encode())
    waiting = services.versions.find(collection, "v4")
    services.late_results.record(waiting.id, NewCheck(name="look", outcome="broken", message="later"), by=BY)

    assert ([1, 2, 3, 4], []) == held(collection)
    assert 3 == services.collections.get(collection).quarantined_count


def test_a_restored_version_and_a_restored_collection_keep_their_locks(
    services, make_collection, push, held, host, lock, sender
):
    collection = make_collection(2)
    push(collection, b"good 1")
    services.versions.delete(collection, "v1", by=sender)
    lock(collection)
    restored = services.trash.restore(collection, 1, by=sender)
    assert restored.created_at + MONTH == restored.locked_until
    with pytest.raises(VersionLockedError):
        services.versions.delete(collection, "v1", by=sender)

    host.pass_time(31 * DAY)
    with pytest.raises(CollectionNotEmptyError):
        services.collections.delete(collection, by=sender)
    services.collections.delete(collection, by=sender, with_versions=True)
    services.deleted_collections.restore(collection, by=sender)
    assert MONTH == services.collections.get(collection).locked
    assert restored.locked_until == services.versions.find(collection, "v1").locked_until


def test_a_clock_that_was_set_back_shortens_no_lock(services, make_collection, push, host):
    collection = make_collection(9, locked=MONTH)
    first = push(collection, b"good 1").version
    host.pass_time(-DAY)
    second = push(collection, b"good 2").version

    assert second.created_at == first.created_at - DAY
    assert first.locked_until == second.locked_until == first.created_at + MONTH


@pytest.mark.databases("postgresql", "mariadb")
def test_a_lock_is_over_when_the_host_and_the_database_say_so(services, make_collection, push, host, sender):
    """The host's clock is wrong, the database's is right."""
    right = services.database.now()
    collection = make_collection(9, locked=MONTH)
    host.now = right - 40 * DAY
    late = push(collection, b"good 1").version
    assert abs(late.locked_until - (right + MONTH)) < timedelta(minutes=5)
    host.now = right + 40 * DAY
    with pytest.raises(VersionLockedError):
        services.versions.delete(collection, "v1", by=sender)


def test_whoever_has_the_database_in_hand_can_undo_a_lock(services, make_collection, push):
    """It is a promise of the service; the storage is the second line."""
    collection = make_collection(9, locked=MONTH)
    push(collection, b"good 1")
    with services.database.engine.begin() as connection:
        connection.execute(delete(Version))
        connection.execute(Collection.__table__.update().values(locked=0))
    assert not services.collections.get(collection).locked
