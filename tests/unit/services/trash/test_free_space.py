"""The trash gives way before the storage is full, in an order in which no attacker can push out good versions."""

import shutil

import pytest

from frepo_core.domain.limits import COUNT
from frepo_core.errors import StorageFull
from frepo_core.services.collections.collection_change import CollectionChange
from frepo_core.testing.faulty import Fail

KILOBYTE = 1000


def content(letter, size=KILOBYTE):
    return letter.encode() * size


@pytest.fixture
def free(services):
    return lambda size: services.trash_space.give_way(size, by=None)


@pytest.mark.databases
def test_versions_that_were_created_last_end_first_and_deleted_ones_last(
    services, make_collection, push, free, entries, sender
):
    collection = make_collection(1)
    push(collection, content("a"))
    services.versions.delete(collection, "v1", by=sender)
    for letter in "bcde":
        push(collection, content(letter))
    seen = []
    for _ in range(5):
        free(1)
        seen.append([number for number, _ in entries()])

    assert seen == [[1, 2, 3], [1, 2], [1], [], []]


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
    services, make_collection, push, small_storage, facts, entries, monkeypatch, size
):
    small_storage(4 * KILOBYTE)
    collection = make_collection(1)
    for letter in "abc":
        push(collection, content(letter))
    usage = shutil.disk_usage(".")
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage._replace(free=0))

    services.trash_space.prepare(size * KILOBYTE, by=None)
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


@pytest.mark.parametrize(("temporary", "left"), [(0, [1]), (10_000, [1, 2, 3])])
def test_the_trash_gives_way_before_a_body_arrives_if_the_disk_for_it_is_full(
    services, make_collection, push, entries, small_storage, monkeypatch, temporary, left
):
    small_storage(4 * KILOBYTE)
    collection = make_collection(1)
    for letter in "abcd":
        push(collection, content(letter))
    usage = shutil.disk_usage(".")
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage._replace(free=temporary))

    services.trash_space.prepare(2 * KILOBYTE, by=None)

    assert left == [number for number, _ in entries()]


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

        freed = services.trash_space.keep_free(by=None)

        assert (2, 2 * KILOBYTE) == (freed.versions, freed.size)
        assert storage.free_space() == 2 * KILOBYTE
        assert [1, 2, 3, 4, 5] == [number for number, _ in entries()]
        assert 0 == services.trash_space.keep_free(by=None).versions

    def test_the_health_check_says_that_the_promise_does_not_hold(self, services, fill):
        fill(8 * KILOBYTE + 100)

        (problem,) = services.health.report("health-5ecre7").storage

        assert "100B free, trash.min_free requires 2.02kB" in problem
        services.trash_space.keep_free(by=None)
        assert () == services.health.report("health-5ecre7").storage

    def test_a_storage_that_cannot_tell_its_room_is_healthy(self, services, fill):
        fill(None)

        assert 0 == services.trash_space.keep_free(by=None).versions
        assert () == services.health.report("health-5ecre7").storage

    @pytest.mark.parametrize(("limit", "ended"), [("1kB", 1), ("50%", 4), ("0", 0), ("0%", 0)])
    def test_it_is_a_share_or_a_size(self, services, fill, limit, ended):
        services.trash_space._space = type(services.trash_space._space)(
            services.backends, services.settings.model_copy(update={"trash_min_free": limit})
        )
        fill(8 * KILOBYTE)

        assert ended == services.trash_space.keep_free(by=None).versions
