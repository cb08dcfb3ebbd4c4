"""The trash gives way before the storage is full, in an order in which no attacker can push out good versions."""

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import StoredObject, Version
from frepo_core.domain.limits import COUNT
from frepo_core.errors import StorageFull
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.versions.version_checks import NewCheck
from frepo_core.services.backups.versions.version_edits import VersionChange
from frepo_core.testing.faulty import Fail

KILOBYTE = 1000


def content(letter, size=KILOBYTE):
    return letter.encode() * size


@pytest.fixture
def free(services):
    return lambda size: services.early_ending.give_way(size, by=None)


@pytest.mark.databases
def test_versions_that_were_created_last_end_first_and_deleted_ones_last(
    services, make_collection, push, free, entries, sender
):
    collection = make_collection(1)
    for letter in "abcd":
        push(collection, content(letter))
    services.versions.delete(collection, "v4", by=sender)
    push(collection, content("e"))
    seen = []
    for _ in range(5):
        free(1)
        seen.append([number for number, _ in entries()])

    # The one that a person deleted was created last of them.
    assert seen == [[1, 2, 4], [1, 4], [4], [], []]


def test_entries_whose_bytes_others_use_are_passed_over(services, make_collection, push, upload, free, entries):
    collection = make_collection(1)
    for letter in "abc":
        push(collection, content(letter))
    upload(content("b"))

    freed = free(1)

    assert ([(2, "evicted")], 1, KILOBYTE) == (entries(), freed.versions, freed.size)


def test_the_copy_of_an_older_version_does_not_take_its_bytes_away(services, make_collection, push, free, entries):
    """An attacker who uploads the good content again, and has it evicted, gains nothing."""
    collection, other = make_collection(1), make_collection(1)
    for letter in "ab":
        push(collection, content(letter))
    for letter in "xayz":
        push(other, content(letter))

    for _ in range(2):  # x and y, which are younger than the first a
        free(1)

    assert [(1, "evicted"), (2, "evicted")] == entries()
    assert 2 == free(1).versions


def test_an_early_end_is_an_event(make_collection, push, free, facts):
    collection = make_collection(1)
    push(collection, content("a"))
    push(collection, content("b"))

    free(1)

    ((number, data),) = facts("trash.ended")
    assert (1, "no_space", True) == (number, data["reason"], data["early"])


@pytest.mark.databases
def test_an_upload_that_finds_the_storage_full_is_accepted(make_collection, push, entries, small_storage, numbers):
    storage = small_storage(4 * KILOBYTE)
    collection = make_collection(2)
    for letter in "abcdefg":
        push(collection, content(letter))

    assert [6, 7] == numbers(collection)
    assert storage.free_space() == 0
    assert [(1, "evicted"), (5, "evicted")] == entries()  # the oldest one stays


@pytest.mark.parametrize("size", [4, 5, 50])
def test_an_upload_that_is_too_large_even_without_the_trash_ends_nothing(
    make_collection, push, small_storage, facts, entries, size
):
    small_storage(4 * KILOBYTE)
    collection = make_collection(1)
    for letter in "abc":
        push(collection, content(letter))
    with pytest.raises(StorageFull):
        push(collection, content("z", size * KILOBYTE))

    assert 1 == len(facts("storage.full"))
    assert [(1, "evicted"), (2, "evicted")] == entries()


def test_a_refusal_for_another_reason_than_the_room_leaves_the_trash_alone(
    services, make_collection, push, entries, small_storage, wrap
):
    """For example, a file system or an object store that allows no file of this size."""
    small_storage(100_000_000)
    collection = make_collection(1)
    for letter in "abc":
        push(collection, content(letter))
    wrap(Fail("store", nth=0, error=lambda: StorageFull("too large")))

    with pytest.raises(StorageFull):
        push(collection, content("z"))

    assert [(1, "evicted"), (2, "evicted")] == entries()


def test_a_plain_file_makes_no_room(make_collection, push, upload, entries, small_storage):
    small_storage(4 * KILOBYTE)
    collection = make_collection(1)
    for letter in "abcd":
        push(collection, content(letter))

    with pytest.raises(StorageFull):
        upload(content("z"))
    assert [1, 2, 3] == [number for number, _ in entries()]


class TestNewestGood:
    """A collection's newest good version in the trash stays while the collection holds no good one."""

    @pytest.fixture
    def emptied(self, services, make_collection, push, sender):
        """A collection whose three versions are in the trash; `spoil` is called before."""

        def emptied(spoil=lambda version: None):
            collection = make_collection(3)
            versions = [push(collection, content(letter)).version for letter in "abc"]
            spoil(versions[2])
            for version in versions:
                services.versions.delete(collection, f"v{version.number}", by=sender)
            return collection

        return emptied

    @pytest.mark.databases
    def test_it_stays_until_the_collection_holds_a_good_one(self, emptied, push, free, entries):
        collection = emptied()
        free(10 * KILOBYTE)
        left = entries()
        push(collection, content("d"))
        free(1)

        assert ([(3, "deleted")], []) == (left, entries())

    @pytest.mark.databases
    def test_it_stays_beside_older_good_ones(self, services, make_collection, push, free, entries):
        collection = make_collection(2)
        first = push(collection, content("a")).version
        services.version_edits.edit(collection, first.id, VersionChange(pinned=True), by=None)
        for letter in "bcd":
            push(collection, content(letter))
        services.database.execute(update(Version).where(Version.number == 4).values(verdict="broken"))

        free(10 * KILOBYTE)

        assert [(3, "evicted")] == entries()

    def test_that_of_a_deleted_collection_stays(self, services, make_collection, push, sender, free, entries):
        collection = make_collection(3)
        for letter in "abc":
            push(collection, content(letter))
        services.collections.delete(collection, by=sender, with_versions=True)
        free(10 * KILOBYTE)

        assert [3] == [number for number, _ in entries()]

    @pytest.mark.databases
    @pytest.mark.parametrize("how", ["suspicious", "broken", "broken before", "damaged"])
    def test_one_that_is_not_good_gives_way(self, services, emptied, free, entries, sender, keep_as_before, how):
        def spoil(version):
            if how.startswith("broken"):
                check = NewCheck(name="restore", outcome="broken", message="cut", details={})
                services.late_results.record(version.id, check, by=sender)
            elif how == "damaged":
                content_id = version.file.blob.id
                services.database.execute(
                    update(StoredObject)
                    .where(StoredObject.content_id == content_id)
                    .values(state="damaged", since=utc_now())
                )
            else:
                services.database.execute(update(Version).where(Version.id == version.id).values(verdict="suspicious"))

        emptied(spoil)
        if how == "broken before":
            keep_as_before()
        free(10 * KILOBYTE)

        assert [(2, "deleted")] == entries()

    def test_a_version_that_is_not_good_does_not_replace_it(self, services, emptied, push, free, entries):
        version = push(emptied(), content("d")).version
        services.database.execute(update(Version).where(Version.id == version.id).values(verdict="suspicious"))
        free(10 * KILOBYTE)

        assert [(3, "deleted")] == entries()


class TestRequired:
    """A quarter of the storage must be free."""

    @pytest.fixture
    def ini(self, ini):
        return ini | {"trash.min_free": "25%", "health_check.code": "health-5ecre7"}

    @pytest.fixture
    def fill(self, services, make_collection, push, small_storage, sender):
        def fill(capacity):
            storage = small_storage(capacity)
            collection = make_collection(1)
            for letter in "abcdefgh":
                push(collection, content(letter))
            services.collections.edit(collection, CollectionChange(limits={COUNT: 3}), by=sender)
            return storage

        return fill

    def test_the_trash_keeps_as_much_free(self, services, fill, entries):
        storage = fill(8 * KILOBYTE)

        freed = services.early_ending.keep_free(by=None)

        assert (2, 2 * KILOBYTE) == (freed.versions, freed.size)
        assert storage.free_space() == 2 * KILOBYTE
        assert [1, 2, 3, 4, 5] == [number for number, _ in entries()]
        assert 0 == services.early_ending.keep_free(by=None).versions

    def test_the_health_check_says_that_the_promise_does_not_hold(self, services, fill):
        fill(8 * KILOBYTE + 100)

        (problem,) = services.health.report("health-5ecre7").storage

        assert "100 bytes free, trash.min_free requires 2.03 kB" in problem
        services.early_ending.keep_free(by=None)
        assert () == services.health.report("health-5ecre7").storage

    def test_a_storage_that_cannot_tell_its_room_is_healthy(self, services, fill):
        fill(None)

        assert 0 == services.early_ending.keep_free(by=None).versions
        assert () == services.health.report("health-5ecre7").storage

    @pytest.mark.parametrize(("limit", "ended"), [("1kB", 1), ("50%", 4), ("0", 0), ("0%", 0)])
    def test_it_is_a_share_or_a_size(self, services, fill, limit, ended):
        services.early_ending._space = type(services.early_ending._space)(
            services.backends, services.presence, services.settings.model_copy(update={"trash_min_free": limit})
        )
        fill(8 * KILOBYTE)

        assert ended == services.early_ending.keep_free(by=None).versions

    @pytest.mark.parametrize(("kind", "left"), [("spooled", 5), ("storing", 7)])
    def test_bytes_that_uploads_hold_count_as_free(self, services, fill, entries, kind, left):
        """Those in the folder for temporary files do if it is on this disk, which it is not here."""
        fill(8 * KILOBYTE)
        services.ingest.held.add(**{kind: 2 * KILOBYTE})
        services.early_ending.keep_free(by=None)

        assert left == len(entries())

    def test_a_file_leaves_as_much_free_while_the_trash_holds_something(self, services, fill, upload, entries, keys):
        storage = fill(12 * KILOBYTE)  # 8 are used, 3 must be free
        upload(content("y"))
        with pytest.raises(StorageFull, match="keeps what is in the trash"):
            upload(content("z"))

        assert (3 * KILOBYTE, 7) == (storage.free_space(), len(entries()))

    def test_a_file_may_use_the_last_byte_if_the_trash_holds_nothing(self, services, small_storage, upload):
        storage = small_storage(4 * KILOBYTE)
        for letter in "abcd":
            upload(content(letter))

        assert 0 == storage.free_space()

    def test_known_content_needs_no_room(self, fill, upload):
        fill(8 * KILOBYTE)

        assert upload(content("h")).file.blob.size == KILOBYTE

    def test_a_version_that_is_quarantined_is_treated_as_a_file(self, services, fill, make_collection, push, sender):
        storage = fill(12 * KILOBYTE)
        guards = {"max_shrink_percent": 50, "action": "quarantine"}
        collection = make_collection(3, guards=guards)
        push(collection, content("l", KILOBYTE + 500))
        with pytest.raises(StorageFull, match="keeps what is in the trash"):
            push(collection, content("m", 500))

        assert 2500 == storage.free_space()
