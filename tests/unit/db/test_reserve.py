"""The file that keeps disk space for deletions."""

import os

import pytest

from frepo_core.db.sqlite.reserve import Reserve
from support.servers.disks import small_disk

MIB = 1 << 20


@pytest.fixture
def disk(tmp_path):
    with small_disk(tmp_path / "disk", "8m") as folder:
        yield folder


@pytest.fixture
def path(disk):
    return disk / "frepo.db-reserve"


def free(disk):
    status = os.statvfs(disk)
    return status.f_bavail * status.f_frsize


@pytest.mark.parametrize(("size", "expected"), [(4 * MIB, 4 * MIB), (4 * MIB + 4096, 0)])
def test_it_is_made_only_where_as_much_space_is_left(disk, path, size, expected):
    Reserve(path, size).refill()

    assert 8 * MIB - expected == free(disk)


def test_its_space_is_free_while_it_is_released_and_taken_again(disk, path):
    reserve = Reserve(path, 4 * MIB)
    reserve.refill()
    with reserve.released():
        released = free(disk)

    assert (8 * MIB, 4 * MIB) == (released, free(disk))


def test_it_takes_back_what_is_left(disk, path):
    reserve = Reserve(path, 4 * MIB)
    reserve.refill()
    with reserve.released():
        (disk / "other").write_bytes(bytes(6 * MIB))

    assert (0, 2 * MIB) == (free(disk), path.stat().st_size)


def test_it_grows_again_when_there_is_space(disk, path):
    reserve = Reserve(path, 4 * MIB)
    reserve.refill()
    with reserve.released():
        (disk / "other").write_bytes(bytes(6 * MIB))
    (disk / "other").unlink()
    reserve.refill()

    assert 4 * MIB == path.stat().st_size


def test_only_a_part_can_be_released(disk, path):
    reserve = Reserve(path, 4 * MIB)
    reserve.refill()
    with reserve.released(MIB):
        released = free(disk)

    assert (5 * MIB, 4 * MIB) == (released, free(disk))


def test_what_others_took_while_it_was_released_is_taken_back_first(disk, path):
    reserve = Reserve(path, 4 * MIB)
    reserve.refill()
    with reserve.released(MIB):
        (disk / "other").write_bytes(bytes(5 * MIB))
    (disk / "other").write_bytes(bytes(4 * MIB + MIB // 2))
    reserve.refill()

    assert (0, 3 * MIB + MIB // 2) == (free(disk), path.stat().st_size)


def test_what_has_released_it_already_is_no_obstacle(disk, path):
    reserve = Reserve(path, 4 * MIB)
    reserve.refill()
    with reserve.released(), Reserve(path).released():
        released = free(disk)

    assert (8 * MIB, 4 * MIB) == (released, free(disk))


def test_a_folder_that_is_gone_is_no_obstacle(tmp_path):
    reserve = Reserve(tmp_path / "gone" / "frepo.db-reserve", MIB)
    reserve.refill()
    with reserve.released():
        pass

    assert not (tmp_path / "gone").exists()
