"""The file of an upload: one writer, nothing beyond what was acknowledged, and a silent writer gives way."""

import errno
import os
import subprocess
import sys
import time

import pytest

from frepo_core.plugins import StorageFull
from frepo_uploads.disk import part_file
from frepo_uploads.disk.part_file import FileLostError, InUseError, PartFile, WriterLostError, delete, is_in_use

UPLOAD = "host-1"
# Takes the lock, says so, and waits until it is killed.
HOLDER = """
import sys, time
from pathlib import Path
from frepo_uploads.disk.part_file import PartFile
file = PartFile(Path(sys.argv[1]), "host-1", offset=0)
file.write(b"more")
print("locked", flush=True)
time.sleep(60)
"""


@pytest.fixture
def first(tmp_path):
    with PartFile(tmp_path, UPLOAD, offset=0, is_new=True) as file:
        yield file


def silence(file):
    old = time.time() - part_file.SILENCE - 1
    os.utime(file.path, (old, old))


def test_what_was_written_and_not_acknowledged_is_cut(tmp_path, first):
    first.write(b"acknowledged")
    first.write(b" and not")
    first.close()

    with PartFile(tmp_path, UPLOAD, offset=12) as second:
        second.write(b"!")

    assert b"acknowledged!" == first.path.read_bytes()


def test_a_second_writer_is_refused(tmp_path, first):
    with pytest.raises(InUseError):
        PartFile(tmp_path, UPLOAD, offset=0)

    assert is_in_use(tmp_path, UPLOAD)


def test_a_silent_writer_gives_way_and_cannot_write_any_more(tmp_path, first):
    first.write(b"old")
    silence(first)

    with PartFile(tmp_path, UPLOAD, offset=0) as second:
        second.write(b"new")
        with pytest.raises(WriterLostError):
            first.write(b"late")

        assert second.taken_over
    assert b"new" == first.path.read_bytes()


def test_only_one_of_two_takes_over_from_a_silent_writer(tmp_path, first):
    silence(first)

    with PartFile(tmp_path, UPLOAD, offset=0), pytest.raises(InUseError):
        PartFile(tmp_path, UPLOAD, offset=0)


def test_the_lock_of_a_process_ends_with_it(tmp_path, first):
    first.close()
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path], stdout=subprocess.PIPE, text=True)
    try:
        assert "locked\n" == holder.stdout.readline()
        with pytest.raises(InUseError):
            PartFile(tmp_path, UPLOAD, offset=0)
    finally:
        holder.kill()
        holder.communicate()

    with PartFile(tmp_path, UPLOAD, offset=0) as file:
        assert 0 == file.offset
        assert b"" == file.path.read_bytes()


def test_a_file_that_is_missing_or_too_short_is_lost(tmp_path, first):
    first.write(b"abc")
    first.close()

    with pytest.raises(FileLostError):
        PartFile(tmp_path, UPLOAD, offset=4)
    delete(tmp_path, UPLOAD)
    with pytest.raises(FileLostError):
        PartFile(tmp_path, UPLOAD, offset=0)


def test_a_writer_notices_that_its_upload_was_ended(tmp_path, first):
    delete(tmp_path, UPLOAD)

    with pytest.raises(WriterLostError):
        first.write(b"a")


def test_a_full_disk_is_told_apart(first, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)

    with pytest.raises(StorageFull):
        first.write(b"a")
    assert 0 == first.offset


def test_a_file_with_two_names_is_copied_before_it_is_written_to(tmp_path, first):
    first.write(b"stored")
    first.close()
    blob = tmp_path / "blob"
    os.link(first.path, blob)

    with PartFile(tmp_path, UPLOAD, offset=3) as file:
        file.write(b"!")

    assert b"stored" == blob.read_bytes()
    assert b"sto!" == file.path.read_bytes()


def test_its_files_are_for_their_owner_alone(tmp_path):
    before = os.umask(0)
    try:
        PartFile(tmp_path, UPLOAD, offset=0, is_new=True).close()
    finally:
        os.umask(before)

    assert {0o600} == {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
