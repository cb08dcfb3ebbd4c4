"""Small contents that were read lately come from memory: the storage is not asked again, but who asks is."""

import shutil

import pytest

from frepo_core.errors import BytesMissingError
from frepo_core.services.maintenance import verify
from support.client import with_settings

SMALL, LARGE = b"small", b"l" * ((64 << 10) + 1)


@pytest.fixture
def read(uploader, stranger):
    """Upload contents and download each once; return their names."""

    def read(*contents):
        names = [uploader.upload(content).json["filename"] for content in contents]
        assert [stranger.download(name).body for name in names] == list(contents)
        return names

    return read


@pytest.fixture
def lose_storage(tmp_path):
    return lambda: shutil.rmtree(tmp_path / "storage")


def test_a_small_content_comes_from_the_storage_once(read, stranger, lose_storage):
    [name] = read(SMALL)
    lose_storage()

    whole, part = stranger.download(name), stranger.download(name, headers={"Range": "bytes=1-2"})

    assert (whole.status_int, whole.body) == (200, SMALL)
    assert (part.status_int, part.body) == (206, SMALL[1:3])


def test_another_file_of_the_same_content_needs_no_storage_either(read, uploader, stranger, lose_storage):
    read(SMALL)
    other = uploader.upload(SMALL, "other.txt", password="word-5ecre7").json["filename"]
    lose_storage()

    assert stranger.download(other, {"password": "word-5ecre7"}).body == SMALL
    assert stranger.download(other).status_int == 403


def test_a_part_says_nothing_of_the_whole(uploader, stranger, lose_storage):
    name = uploader.upload(SMALL).json["filename"]
    assert stranger.download(name, headers={"Range": "bytes=0-1"}).body == SMALL[:2]
    lose_storage()

    assert stranger.download(name).status_int == 500


def test_a_large_content_is_not_kept(read, stranger, lose_storage):
    [name] = read(LARGE)
    lose_storage()

    assert stranger.download(name).status_int == 500


def test_nor_is_one_that_a_caller_in_the_process_reads_whole(services, uploader, lose_storage):
    blob = services.files.find(uploader.upload(LARGE).json["filename"]).blob
    assert services.downloads.read(blob, 0, blob.size) == LARGE
    lose_storage()

    with pytest.raises(BytesMissingError):
        services.downloads.read(blob, 0, blob.size)


@with_settings(fs__cache_size="0")
def test_nothing_is_kept_where_there_is_no_room(read, stranger, lose_storage):
    [name] = read(SMALL)
    lose_storage()

    assert stranger.download(name).status_int == 500


@with_settings(fs__cache_size="10KiB")
def test_what_was_not_read_for_longest_goes_first(read, stranger, lose_storage):
    contents = [bytes([number]) * 4000 for number in range(2)]
    names = read(*contents)
    assert stranger.download(names[0]).body == contents[0]
    names += read(b"2" * 4000)
    lose_storage()

    assert [stranger.download(name).status_int for name in names] == [200, 500, 200]


@with_settings(fs__cache_size="1KiB")
def test_what_keeping_itself_takes_is_counted(read, stranger, lose_storage):
    [name, *_] = read(SMALL, *(b"%d" % number for number in range(20)))
    lose_storage()

    assert stranger.download(name).status_int == 500


def test_a_file_that_was_deleted_is_gone(read, root, stranger):
    [name] = read(SMALL)
    root.delete(f"/repository/file/{name}")

    assert stranger.download(name).status_int == 404


def test_bytes_that_are_known_to_be_damaged_are_not_sent(read, services, stranger, tmp_path):
    [name] = read(SMALL)
    [path] = (path for path in (tmp_path / "storage").rglob("*") if path.is_file())
    path.write_bytes(b"LLAMS")
    verify(services.database, services.backends)
    path.write_bytes(SMALL)

    assert stranger.download(name).status_int == 500


def test_wrong_bytes_are_not_kept(uploader, stranger, tmp_path):
    name = uploader.upload(SMALL).json["filename"]
    [path] = (path for path in (tmp_path / "storage").rglob("*") if path.is_file())
    path.write_bytes(b"LLAMS")
    assert stranger.download(name).status_int == 503
    path.write_bytes(SMALL)

    assert stranger.download(name).body == SMALL
