"""A storage's stream is read ahead of the client: in order, not far, and never longer than it is wanted."""

import io
import os
import threading

import pytest

from frepo_core.errors import StorageUnavailable
from frepo_core.services.content.read_ahead import PIECE, PIECES, ReadAhead

CONTENT = os.urandom(3 * PIECE + 7)


class Stream(io.BytesIO):
    """Says when it is closed; `waits` holds up each read after the first, as a storage that hangs would."""

    def __init__(self, content=CONTENT, error=None, waits=None):
        super().__init__(content)
        self.ended, self.error, self.waits = threading.Event(), error, waits

    def read(self, size=-1):
        if self.waits and self.tell():
            self.waits.wait(30)
        data = super().read(size)
        if not data and self.error:
            raise self.error
        return data

    def close(self):
        super().close()
        self.ended.set()


def read_all(stream, size):
    pieces = []
    while piece := stream.read(size):
        pieces.append(piece)
    return pieces


@pytest.mark.parametrize("size", [1000, PIECE - 1, PIECE, 5 * PIECE])
def test_all_comes_in_order_and_no_more_at_once_than_asked_for(size):
    pieces = read_all(ReadAhead(Stream()), size)

    assert (CONTENT, True) == (b"".join(pieces), max(map(len, pieces)) <= size)


def test_the_rest_comes_in_one_piece_where_no_size_is_said():
    ahead = ReadAhead(Stream())

    assert (CONTENT[:10], CONTENT[10:], b"") == (ahead.read(10), ahead.read(), ahead.read())


def test_after_the_end_there_is_nothing_however_often_it_is_asked_for():
    ahead = ReadAhead(Stream())
    read_all(ahead, PIECE)

    assert [b"", b""] == [ahead.read(1), ahead.read(1)]


def test_what_breaks_raises_after_what_came_before_it_each_time():
    ahead, got = ReadAhead(Stream(error=StorageUnavailable("away"))), b""
    while len(got) < len(CONTENT):
        got += ahead.read(PIECE)
    for _ in range(2):
        with pytest.raises(StorageUnavailable, match="away"):
            ahead.read(1)

    assert CONTENT == got


def test_it_reads_a_few_pieces_before_anybody_wants_them_and_no_more():
    stream = Stream(bytes(30 * PIECE))
    ahead = ReadAhead(stream)
    first = ahead.read(PIECE)
    while ahead._pieces.qsize() < PIECES:
        threading.Event().wait(0.001)

    assert (PIECE, True) == (len(first), stream.tell() <= (PIECES + 2) * PIECE)
    ahead.close()


def test_a_stream_that_is_not_read_to_its_end_is_closed():
    stream = Stream(bytes(30 * PIECE))
    ahead = ReadAhead(stream)
    ahead.read(1)
    ahead.close()

    assert stream.ended.wait(10)


def test_a_stream_that_nobody_read_is_closed():
    stream = Stream()
    ReadAhead(stream).close()

    assert stream.ended.is_set()


def test_closing_waits_for_no_storage_that_hangs():
    goes_on = threading.Event()
    stream = Stream(waits=goes_on)
    ahead = ReadAhead(stream)
    ahead.read(1)
    ahead.close()

    assert not stream.ended.is_set()
    goes_on.set()
    assert stream.ended.wait(10)
