"""A storage's stream is read ahead of the client: in order, a limited distance, and until it is closed."""

import io
import os
import threading

import pytest

from frepo_core.errors import StorageUnavailable
from frepo_core.services.content.read_ahead import PIECE, PIECES, ReadAhead

CONTENT = os.urandom(3 * PIECE + 7)


class Stream(io.BytesIO):
    """Records when it is closed; `waits` blocks each read after the first, like an unresponsive storage."""

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


def test_bytes_are_read_in_order_and_never_more_than_requested():
    for size in [1000, PIECE - 1, PIECE, 5 * PIECE]:
        pieces = read_all(ReadAhead(Stream()), size)

        assert (CONTENT, True) == (b"".join(pieces), max(map(len, pieces)) <= size)


def test_a_read_without_size_returns_the_rest_and_each_later_one_nothing():
    ahead = ReadAhead(Stream())
    assert (CONTENT[:10], CONTENT[10:], b"", b"") == (ahead.read(10), ahead.read(), ahead.read(), ahead.read(1))


def test_an_error_is_raised_after_the_bytes_before_it_and_at_each_later_read():
    ahead, got = ReadAhead(Stream(error=StorageUnavailable("away"))), b""
    while len(got) < len(CONTENT):
        got += ahead.read(PIECE)
    for _ in range(2):
        with pytest.raises(StorageUnavailable, match="away"):
            ahead.read(1)

    assert CONTENT == got


def test_a_limited_number_of_pieces_is_read_ahead():
    stream = Stream(bytes(30 * PIECE))
    ahead = ReadAhead(stream)
    first = ahead.read(PIECE)
    while ahead._pieces.qsize() < PIECES:
        threading.Event().wait(0.001)

    assert (PIECE, True) == (len(first), stream.tell() <= (PIECES + 2) * PIECE)
    ahead.close()


def test_a_stream_that_is_not_read_to_its_end_is_closed():
    unread, begun = Stream(), Stream(bytes(30 * PIECE))
    ReadAhead(unread).close()
    ahead = ReadAhead(begun)
    ahead.read(1)
    ahead.close()
    assert unread.ended.is_set()
    assert begun.ended.wait(60)


def test_closing_does_not_wait_for_an_unresponsive_storage():
    goes_on = threading.Event()
    stream = Stream(waits=goes_on)
    ahead = ReadAhead(stream)
    ahead.read(1)
    ahead.close()

    assert not stream.ended.is_set()
    goes_on.set()
    assert stream.ended.wait(60)
