"""Full disks: 507, nothing changes, other requests succeed, and freeing space is sufficient without a restart."""

import contextlib

import pytest

from frepo_core.errors import StorageFull
from frepo_core.testing.sources import Source
from support.reliability.invariants import assert_unchanged
from support.reliability.world import services_over
from support.servers.disks import small_disk

SIZES = {"storage": "2m", "temporary": "1m", "database": "3m"}
LARGE = Source(3 << 20).read()


@pytest.fixture
def disks(tmp_path):
    """Small disks for the storage, the temporary files and the database."""
    with contextlib.ExitStack() as stack:
        for name, size in SIZES.items():
            stack.enter_context(small_disk(tmp_path / name, size))
        yield tmp_path


@pytest.fixture
def database_url(disks):
    return f"sqlite:///{disks}/database/frepo.db"


@pytest.fixture
def services(ini, plugins):
    with services_over(ini, plugins) as services:
        yield services


@pytest.fixture
def collection(world):
    collection = world.collection(1)
    world.push(collection, b"old")
    return collection


@pytest.fixture
def fill(disks):
    """Fill a disk; return a function that frees the space."""

    def fill(name):
        filler = disks / name / ".filler"
        with filler.open("wb", buffering=0) as file:
            try:
                while file.write(b"x" * 4096):
                    pass
            except OSError:
                pass
        return filler.unlink

    return fill


def test_a_full_storage_refuses_and_keeps_all(world, collection):
    before = world.snapshot()
    with pytest.raises(StorageFull):
        world.push(collection, LARGE)
    after = world.snapshot()
    other = world.push(world.collection(), b"small enough")

    assert_unchanged(before, after)
    assert 1 == other


def test_a_storage_with_free_space_again_accepts_versions(world, collection, fill):
    make_room = fill("storage")
    with pytest.raises(StorageFull):
        world.push(collection, b"xy" * 4500)
    make_room()

    assert 2 == world.push(collection, b"xy" * 4500)


def test_a_full_folder_for_temporary_files_refuses_large_uploads_only(world, collection):
    before = world.snapshot()
    with pytest.raises(StorageFull):
        world.push(collection, LARGE, stream=Source(len(LARGE)))
    assert_unchanged(before, world.snapshot())

    assert 2 == world.push(collection, b"small enough")


def test_a_full_disk_of_the_database_refuses_and_recovers(world, collection, fill):
    before = world.snapshot()
    make_room = fill("database")
    with pytest.raises(StorageFull):
        for _ in range(100):  # until the write-ahead log must grow
            world.push(collection, b"xy" * 4500)
            before = world.snapshot()
    make_room()
    after = world.snapshot()
    number = world.push(collection, b"new")

    assert_unchanged(before, after, orphans=True)
    assert number > 1


def test_the_trash_gives_way_on_a_full_storage_and_a_pinned_version_stays(world):
    collection = world.collection(2)
    for number in range(1, 9):
        world.push(collection, Source(400_000 + number).read())
        if number == 1:
            world.pin(collection, 1)
    in_trash = [entry.number for entry in world.services.trash.list(collection)]

    assert [1, 8] == world.numbers(collection)
    assert 2 == min(in_trash)
    assert len(in_trash) < 6


def test_a_full_disk_of_the_database_changes_no_protection(world, fill):
    guarded = world.collection(3, guards={"min_version_size": 4, "action": "quarantine"})
    for content in (b"first", b"second", b"third", b"bad"):
        world.push(guarded, content)
    world.delete(guarded, 1)
    make_room = fill("database")
    with pytest.raises(StorageFull):
        for number in range(300):  # until the write-ahead log must grow
            world.note(guarded, 2, f"{number}" * 200)
    before = world.snapshot()
    changes = [
        lambda: world.pin(guarded, 2),
        lambda: world.note(guarded, 3, "before the move"),
        lambda: world.release(guarded, 4),
        lambda: world.restore(guarded, 1),
    ]
    for change in changes:
        with pytest.raises(StorageFull):
            change()
    assert_unchanged(before, world.snapshot())
    make_room()
    for change in changes[:3]:
        change()

    assert [2, 3, 4] == world.numbers(guarded)
