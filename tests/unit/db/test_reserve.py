"""The file that reserves disk space for deletions."""

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
def test_the_reserve_is_made_only_if_the_same_space_stays_free(disk, path, size, expected):
    Reserve(path, size).refill()

    assert 8 * MIB - expected == free(disk)


def test_released_space_is_free_and_is_reserved_again(disk, path):
    """All of it or a part, and also if another one has released it."""
    reserve = Reserve(path, 4 * MIB)
    reserve.refill()
    for amount, expected in [((), 8 * MIB), ((MIB,), 5 * MIB)]:
        with reserve.released(*amount):
            assert expected == free(disk)
        assert 4 * MIB == free(disk)
    with reserve.released(), Reserve(path).released():
        assert 8 * MIB == free(disk)
    assert 4 * MIB == free(disk)


def test_the_reserve_takes_back_the_available_space_and_grows_again(disk, path):
    reserve = Reserve(path, 4 * MIB)
    reserve.refill()
    with reserve.released():
        (disk / "other").write_bytes(bytes(6 * MIB))
    assert (0, 2 * MIB) == (free(disk), path.stat().st_size)
    (disk / "other").unlink()
    reserve.refill()
    assert 4 * MIB == path.stat().st_size


def test_what_others_took_while_it_was_released_is_taken_back_first(disk, path):
    reserve = Reserve(path, 4 * MIB)
    reserve.refill()
    with reserve.released(MIB):
        (disk / "other").write_bytes(bytes(5 * MIB))
    (disk / "other").write_bytes(bytes(4 * MIB + MIB // 2))
    reserve.refill()

    assert (0, 3 * MIB + MIB // 2) == (free(disk), path.stat().st_size)


def test_a_missing_folder_is_ignored(tmp_path):
    reserve = Reserve(tmp_path / "gone" / "frepo.db-reserve", MIB)
    reserve.refill()
    with reserve.released():
        pass

    assert not (tmp_path / "gone").exists()
