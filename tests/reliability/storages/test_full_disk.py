"""Full disks: 507, nothing changes, other requests succeed, and freeing space is sufficient without a restart."""

import contextlib

import pytest

from frepo_core.errors import StorageFull
from frepo_core.testing.sources import Source
from support.reliability.invariants import assert_unchanged
from support.reliability.world import services_over
from support.servers.disks import small_disk

SIZES = {"storage": "2m", "temporary": "1m", "database": "2m"}
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
        world.push(collection, b"x" * 9000)
    make_room()

    assert 2 == world.push(collection, b"x" * 9000)


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
            world.push(collection, b"x" * 9000)
            before = world.snapshot()
    make_room()
    after = world.snapshot()
    number = world.push(collection, b"new")

    assert_unchanged(before, after, orphans=True)
    assert number > 1
