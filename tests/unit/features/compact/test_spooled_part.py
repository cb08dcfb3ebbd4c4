"""Parts that are decoded into files at full speed, and read behind that."""

import contextlib
import io
import shutil
import threading
from types import SimpleNamespace

import pytest

from frepo_core.errors import BlobNotFound, DamagedObjectError
from frepo_core.features.compact import spooled_part
from frepo_core.features.compact.decoded_parts import DecodedParts
from frepo_core.features.compact.spooled_part import PIECE, SpooledParts
from frepo_core.services.content.decoder_memory import NO_WAIT
from frepo_core.services.content.held_bytes import HeldBytes

CONTENT = bytes(range(256)) * 12_288  # three pieces
START = 100


class Steps(io.BytesIO):
    """A content whose pieces are read when the test says so."""

    def __init__(self, content=CONTENT, error=None):
        super().__init__(content)
        self.seek(START)
        self.go, self.error = threading.Semaphore(0), error

    def read(self, size=-1):
        self.go.acquire()
        data = super().read(size)
        if not data and self.error:
            raise self.error
        return data


@pytest.fixture
def parts(tmp_path):
    return SpooledParts(str(tmp_path), HeldBytes(str(tmp_path)))


@pytest.fixture
def begin(parts):
    begun = []

    def begin(content):
        part, ended = parts.new(START, len(CONTENT) - START), threading.Event()
        part.fill(content, lambda: None, ended.set)
        begun.append((content, part))
        return part, ended

    yield begin
    for content, part in begun:
        content.go.release(10)
        part.close()


def test_what_is_decoded_can_be_read_before_the_rest_is(begin):
    content = Steps()
    part, ended = begin(content)
    assert part.is_waiting
    content.go.release()

    assert CONTENT[START : START + 10] == part.read(10)
    assert (START + 10, part.tell(), len(CONTENT)) == (part.tell(), START + 10, part.seek(0, io.SEEK_END))
    part.seek(START)
    content.go.release(10)
    assert CONTENT[START:] == part.read()
    assert b"" == part.read(1)
    assert ended.wait(10)


def test_a_server_whose_thread_must_not_wait_is_woken(begin):
    content, woken = Steps(), threading.Event()
    part, _ = begin(content)
    part.defer(woken.set)

    assert (True, b"") == (part.is_waiting, part.read(10))
    content.go.release()
    assert woken.wait(10)
    assert CONTENT[START : START + 10] == part.read(10)
    content.go.release(10)


def test_the_decoder_is_given_back_while_a_slow_client_still_reads(begin):
    content = Steps()
    content.go.release(10)
    part, ended = begin(content)

    assert ended.wait(10)
    assert content.closed
    assert CONTENT[START:] == part.read()


def test_a_client_that_goes_away_ends_the_decoding(begin, parts):
    content = Steps()
    part, ended = begin(content)
    content.go.release()
    part.read(1)
    part.close()
    content.go.release()

    assert ended.wait(10)
    assert 0 == parts._missing


def test_an_error_comes_after_what_was_decoded_before_it(begin):
    content = Steps(CONTENT[: START + PIECE], DamagedObjectError("0" * 64, "its bytes are wrong"))
    content.go.release(10)
    part, _ = begin(content)

    assert CONTENT[START : START + PIECE] == part.read(PIECE)
    with pytest.raises(DamagedObjectError):
        part.read(1)


def test_a_content_that_ends_early_is_an_error(begin):
    content = Steps(CONTENT[:START])
    content.go.release(10)
    part, _ = begin(content)

    with pytest.raises(BlobNotFound, match="ends before its byte"):
        part.read(1)


def test_without_a_temporary_file_nothing_is_spooled(parts, monkeypatch):
    def fail(*_):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(spooled_part, "UnnamedFile", fail)

    assert (None, 0) == (parts.new(0, 100), parts._missing)


def test_the_parts_take_at_most_half_of_what_is_free(parts, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=1000))

    with contextlib.ExitStack() as stack:
        first = stack.enter_context(parts.new(0, 400))
        assert parts.new(0, 200) is None
        stack.enter_context(parts.new(0, 100))
        first.fill(io.BytesIO(bytes(400)), lambda: None, lambda: None)
        first.read()
        stack.enter_context(parts.new(0, 300))


def test_without_the_folder_for_temporary_files_the_content_is_sent_from_its_decoder(parts, tmp_path):
    tmp_path.rmdir()

    assert parts.new(START, 100) is None


def test_a_content_that_cannot_be_opened_at_its_start_is_closed():
    class Wrong(io.BytesIO):
        def seek(self, *_):
            raise DamagedObjectError("0" * 64, "its head is wrong")

    opened, parts = [], DecodedParts(None)
    for _ in range(3):  # more than may be open
        opened.append(Wrong(CONTENT))
        with pytest.raises(DamagedObjectError):
            parts.open(lambda: opened[-1], 1, None, size=100, wait=NO_WAIT, is_spooled=False)

    assert all(content.closed for content in opened)
