"""What a byte of a request can cost the thread that reads all connections, however it arrives."""

import pytest
from waitress.adjustments import Adjustments

from frepo_server.bodies.chunked_receiver import BoundedChunkedReceiver
from frepo_server.request_head import MAX_HEAD
from frepo_server.request_parser import RequestParser
from support.work import count_work

KIB = 1 << 10
# For each byte, also if each comes alone.
MOST_CALLS, MOST_SCANNED = 24, 40
START = b"GET / HTTP/1.1\r\nHost: a\r\n"


def lines(line):
    """Return a function that makes a head of so many bytes, with this line again and again."""
    return lambda size: START + line * ((size - len(START)) // len(line)) + b"\r\n"


HEADS = {
    "short lines": lines(b"a:\r\n"),
    "cookies": lines(b"Cookie: a=b\r\n"),
    "ranges": lines(b"Range: bytes=1-2,3-4\r\n"),
    "names that are dropped": lines(b"a_b: c\r\n"),
    "long lines": lines(b"X-Long: " + b"a" * 7000 + b"\r\n"),
    "blanks": lines(b"X-Blank: " + b" \t" * 1000 + b"a\r\n"),
    "line ends before it": lambda size: b"\r\n" * (size // 2),
    "no end": lambda size: START + b"X: " + b"a" * size,
}
CHUNKED = {
    "chunks of a byte": lambda size: b"1\r\na\r\n" * (size // 6),
    "extensions": lambda size: (b"1;" + b"a=b;" * 20 + b"c=d\r\na\r\n") * (size // 90),
    "a long line before each chunk": lambda size: (b"0" * 250 + b"1\r\na\r\n") * (size // 256),
    "a trailer": lambda size: b"0\r\n" + b"X-Trailer: a\r\n" * (size // 14),
    "a trailer with an end": lambda size: b"0\r\n" + b"X-Trailer: a\r\n" * (size // 14) + b"\r\n",
    "empty lines": lambda size: b"\r\n" * (size // 2),
}


class Nowhere:
    """A buffer that keeps nothing."""

    def append(self, data):
        pass


def parse_head(head, piece):
    parser, position = RequestParser(Adjustments(max_request_header_size=MAX_HEAD)), 0
    while position < len(head) and not parser.completed:
        position += parser.received(head[position : position + piece])


def receive_chunks(body, piece):
    receiver, position = BoundedChunkedReceiver(Nowhere()), 0
    while position < len(body) and not (receiver.completed or receiver.error):
        position += receiver.received(body[position : position + piece])


FORMS = [(parse_head, name, make, 14 * KIB) for name, make in HEADS.items()]
FORMS += [(receive_chunks, name, make, 30 * KIB) for name, make in CHUNKED.items()]
each_form = pytest.mark.parametrize(
    ("receive", "make", "size"),
    [(receive, make, size) for receive, _, make, size in FORMS],
    ids=[one[1] for one in FORMS],
)


@each_form
@pytest.mark.parametrize("piece", [1, 64 * KIB])
def test_twice_as_many_bytes_are_twice_the_work(receive, make, size, piece):
    receive(make(KIB), piece)  # what is imported and compiled at the first use does not count
    half, whole = (count_work(lambda size=size: receive(make(size), piece)) for size in (size, 2 * size))

    assert half.calls < MOST_CALLS * size
    assert half.scanned < MOST_SCANNED * size
    assert whole.calls < 2.5 * half.calls + 100
    assert whole.scanned < 2.5 * half.scanned + 4 * KIB
