"""Reads that the first storage does not answer are answered by the second one, and what is damaged is repaired."""

import io
import os
import shutil
import threading
from contextlib import closing
from errno import EIO

import pytest
from sqlalchemy import select

from frepo_core.db.models import StoredObject
from frepo_core.errors import BytesMissingError, StorageUnavailable
from frepo_core.features.second_copies.continued_content import ContinuedFile
from frepo_core.services.upkeep.storage import Ownership
from frepo_core.testing import Fail, FaultyStorage, Truncate

CONTENT = os.urandom(1 << 20)


@pytest.fixture(autouse=True)
def in_this_thread(services):
    """Note at once what failed."""
    services.object_reads.notes._start = lambda work: work()


@pytest.fixture
def file(add, mirror):
    file = add(CONTENT)
    mirror()
    return file


@pytest.fixture
def spoil(services, backend):
    """Let the first storage fail."""

    def spoil(*faults):
        services.backends._built["local"] = FaultyStorage(backend, *faults)

    return spoil


@pytest.fixture
def open_file(services):
    """Read a file piece by piece as the server sends local files, or None."""

    def open_file(file):
        blob = services.files.find(file.stored_name).blob
        return services.stored_content.open_file(blob)

    return open_file


def is_damaged(services, file):
    """Whether the first copy is known to be damaged."""
    current = (StoredObject.content_id == file.blob.id, StoredObject.storage == "local", StoredObject.slot == 1)
    with services.database.reading() as session:
        return session.scalar(select(StoredObject.state).where(*current)) in {"damaged", "missing"}


@pytest.mark.costly
@pytest.mark.databases
def test_missing_bytes_are_read_from_the_copy_and_repaired(services, file, path_of, read, mirror, kinds):
    path_of(file).unlink()

    assert CONTENT == read(file)

    assert is_damaged(services, file)
    assert ["blob.damaged", "blob.fell_back"] == kinds()[-2:]
    assert CONTENT == read(file), "also when it is known"
    assert 1 == mirror()["repaired"]
    assert not is_damaged(services, file)
    assert CONTENT == path_of(services.files.find(file.stored_name)).read_bytes()


def test_a_short_file_is_read_from_the_copy(services, file, path_of, read, open_file):
    path_of(file).write_bytes(CONTENT[:1000])

    assert open_file(file) is None
    assert CONTENT == read(file)
    assert is_damaged(services, file)


@pytest.mark.parametrize(
    "fault",
    [Fail("open"), Fail("open", after=300_000), Truncate("open", after=300_000)],
    ids=["unreachable", "breaks", "ends early"],
)
def test_a_storage_that_fails_is_replaced_in_the_middle(services, file, spoil, read, fault, kinds):
    spoil(fault)

    assert CONTENT == read(file)

    assert not is_damaged(services, file), "the bytes are there"
    assert "blob.fell_back" in kinds()


def test_a_part_goes_on_in_the_other_copy(services, file, spoil):
    spoil(Fail("open", after=1000))
    blob = services.files.find(file.stored_name).blob

    with closing(services.stored_content.open(blob, 5000, 700_000)) as content:
        found = b"".join(iter(lambda: content.read(9999), b""))

    assert CONTENT[5000:705_000] == found


def test_a_local_file_that_is_cut_while_the_server_sends_it(file, open_file, path_of):
    sent = open_file(file)
    begin = sent.read(400_000)
    os.truncate(path_of(file), 500_000)
    rest = []
    while data := sent.read(70_000):
        rest.append(data[:50_000])  # the client took less
        sent.seek(len(begin) + sum(map(len, rest)))

    assert CONTENT == begin + b"".join(rest)


def test_a_server_that_must_not_wait_gets_no_bytes_until_the_other_copy_is_read(file, open_file, path_of):
    sent, has_bytes = open_file(file), threading.Event()
    sent.defer(has_bytes.set)
    begin = sent.read(400_000)
    os.truncate(path_of(file), 400_000)
    rest = []
    while len(begin) + sum(map(len, rest)) < len(CONTENT):
        rest.append(sent.read(300_000))
        if not rest[-1]:
            assert has_bytes.wait(60)
            has_bytes.clear()

    sent.close()
    assert CONTENT == begin + b"".join(rest)


def test_a_bad_sector_while_the_server_sends_the_file(services, file, path_of, second):
    class BadSector(io.FileIO):
        def read(self, size=-1):
            raise OSError(EIO, "bad sector")

    [key] = second.stored()
    with ContinuedFile(
        BadSector(path_of(file)), len(CONTENT), lambda position, error: second.backend.open(key, position)
    ) as content:
        content.seek(300_000)

        assert CONTENT[300_000:300_020] == content.read(20)


def test_wrong_bytes_end_the_download_and_the_next_one_is_right(services, file, path_of, read, mirror):
    path_of(file).write_bytes(b"x" * len(CONTENT))

    with pytest.raises(StorageUnavailable):
        read(file)

    assert is_damaged(services, file)
    assert CONTENT == read(file)
    mirror()
    assert not is_damaged(services, file)
    assert CONTENT == read(file)


def test_a_small_content_with_wrong_bytes_is_right_at_once(services, add, mirror, path_of):
    file = add(b"small")
    mirror()
    path_of(file).write_bytes(b"wrong")

    assert b"small" == services.stored_content.read(file.blob, 0, 5)
    assert is_damaged(services, file)


def test_a_marked_content_is_sent_neither_by_nginx_nor_as_a_local_file(services, file, path_of, open_file, read):
    path_of(file).write_bytes(b"x" * len(CONTENT))
    with pytest.raises(StorageUnavailable):
        read(file)
    blob = services.files.find(file.stored_name).blob

    assert services.stored_content.path(blob) is None
    assert open_file(file) is None


def test_an_emptied_first_storage_is_read_from_the_second(services, file, read, tmp_path, mirror):
    Ownership(services.database, services.backends).claim("local")
    shutil.rmtree(tmp_path / "storage")
    (tmp_path / "storage").mkdir()

    assert CONTENT == read(file)
    assert not is_damaged(services, file), "another disk is mounted there"
    assert 0 == mirror()["repaired"]


def test_a_first_storage_that_fails_three_times_is_skipped(services, file, spoil, read):
    spoil(Fail("open", nth=0))
    for _ in range(5):
        assert CONTENT == read(file)

    assert 3 == services.backends.get("local").calls["open"]


def test_one_event_a_minute_counts_the_reads(file, spoil, read, kinds):
    spoil(Fail("open", nth=0))
    for _ in range(3):
        read(file)

    assert 1 == kinds().count("blob.fell_back")


def test_a_copy_that_is_missing_too_is_marked_and_made_again(services, file, path_of, read, second, mirror):
    path = path_of(file)
    kept = path.rename(path.with_suffix(".kept"))
    for key in second.stored():
        second.backend.delete(key)

    with pytest.raises(BytesMissingError):
        read(file)

    assert ["missing"] == second.states()
    kept.rename(path)
    second.make_due()
    assert 1 == mirror()["copied"]
    assert second.present_keys() == second.stored()


def test_a_damaged_copy_is_not_used_for_a_repair(services, file, path_of, second, mirror, read):
    path_of(file).unlink()
    second.backend.path(second.stored()[0]).write_bytes(b"y" * len(CONTENT))
    with pytest.raises(StorageUnavailable):
        read(file)

    assert 0 == mirror()["repaired"]

    assert ["damaged"] == second.states()
    assert is_damaged(services, file)
