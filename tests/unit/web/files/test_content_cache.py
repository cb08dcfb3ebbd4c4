"""Recently read small contents are sent from memory; access is still checked."""

import shutil

import pytest

from frepo_core.services.upkeep.storage import verify
from support.client import with_settings

SMALL, LARGE = b"small", b"l" * ((64 << 10) + 1)


@pytest.fixture
def read(uploader, anonymous):
    """Upload contents and download each once; return their names."""

    def read(*contents):
        names = [uploader.upload(content).json["filename"] for content in contents]
        assert [anonymous.download(name).body for name in names] == list(contents)
        return names

    return read


@pytest.fixture
def lose_storage(tmp_path):
    return lambda: shutil.rmtree(tmp_path / "storage")


def test_a_small_content_is_read_from_the_storage_once(read, anonymous, lose_storage):
    [name] = read(SMALL)
    lose_storage()

    whole, part = anonymous.download(name), anonymous.download(name, headers={"Range": "bytes=1-2"})

    assert (whole.status_int, whole.body) == (200, SMALL)
    assert (part.status_int, part.body) == (206, SMALL[1:3])


def test_another_file_with_the_same_content_is_sent_from_memory(read, uploader, anonymous, lose_storage):
    read(SMALL)
    other = uploader.upload(SMALL, "other.txt", password="word-5ecre7").json["filename"]
    lose_storage()

    assert anonymous.download(other, {"password": "word-5ecre7"}).body == SMALL
    assert anonymous.download(other).status_int == 403


def test_a_part_and_a_large_content_are_not_cached(uploader, read, anonymous, lose_storage):
    [large] = read(LARGE)
    name = uploader.upload(SMALL).json["filename"]
    assert anonymous.download(name, headers={"Range": "bytes=0-1"}).body == SMALL[:2]
    lose_storage()
    assert [500, 500] == [anonymous.download(each).status_int for each in (name, large)]


@with_settings(fs__cache_size="0")
def test_nothing_is_cached_with_a_size_of_zero(read, anonymous, lose_storage):
    [name] = read(SMALL)
    lose_storage()

    assert anonymous.download(name).status_int == 500


@with_settings(fs__cache_size="10KiB")
def test_the_least_recently_read_content_is_evicted_first(read, anonymous, lose_storage):
    contents = [bytes([number]) * 4000 for number in range(2)]
    names = read(*contents)
    assert anonymous.download(names[0]).body == contents[0]
    names += read(b"2" * 4000)
    lose_storage()

    assert [anonymous.download(name).status_int for name in names] == [200, 500, 200]


@with_settings(fs__cache_size="1KiB")
def test_the_overhead_of_an_entry_is_counted(read, anonymous, lose_storage):
    [name, *_] = read(SMALL, *(b"%d" % number for number in range(20)))
    lose_storage()

    assert anonymous.download(name).status_int == 500


def test_bytes_marked_as_damaged_are_not_sent(read, services, anonymous, tmp_path):
    [name] = read(SMALL)
    [path] = (path for path in (tmp_path / "storage").rglob("*") if path.is_file())
    path.write_bytes(b"LLAMS")
    verify(services.database, services.backends)
    path.write_bytes(SMALL)

    assert anonymous.download(name).status_int == 500


def test_damaged_bytes_are_not_cached(uploader, anonymous, tmp_path):
    name = uploader.upload(SMALL).json["filename"]
    [path] = (path for path in (tmp_path / "storage").rglob("*") if path.is_file())
    path.write_bytes(b"LLAMS")
    assert anonymous.download(name).status_int == 503
    path.write_bytes(SMALL)

    assert anonymous.download(name).body == SMALL
