"""Files that a client requests at once arrive whole, whatever is left of a turn where an answer ends."""

import tempfile

import pytest

from frepo_server import channel
from support.servers.in_process import running_server
from support.wire import Wire, head

pytestmark = pytest.mark.filterwarnings("ignore:send_bytes:DeprecationWarning")

TURN = 20_000
CONTENT = bytes(range(256)) * 120


def application(environ, start_response):
    """Answer `/SIZE` with a file of that size."""
    size = int(environ["PATH_INFO"][1:])
    start_response("200 OK", [("Content-Length", str(size))])
    file = tempfile.TemporaryFile()  # noqa: SIM115  the server closes it
    file.write(CONTENT[:size])
    file.seek(0)
    return environ["wsgi.file_wrapper"](file)


@pytest.fixture
def server(monkeypatch):
    """A server that queues the answers to all requests of a connection, and then sends them in turns of 20 kB."""
    monkeypatch.setattr(channel, "TURN_BYTES", TURN)
    with running_server(application, send_bytes=64 << 10) as server:
        yield server


@pytest.fixture
def head_size(server):
    """The size of the head of an answer to HTTP/1.1 that keeps the connection."""
    with Wire(server) as wire:
        answers = wire.send(head("GET", "/10000"), head("GET", "/10000", "Connection: close")).rest()
    return answers.index(b"\r\n\r\n") + 4


def ask(server, *sizes):
    with Wire(server) as wire:
        wire.send(b"".join(head("GET", f"/{size}") for size in sizes))
        return [wire.reply("GET").body for _ in sizes]


@pytest.mark.parametrize("left", [-1, 0, 1, 20, 60, 1000])
def test_what_is_left_of_a_turn_where_the_next_answer_begins_does_not_matter(server, head_size, left):
    sizes = TURN - head_size - left, 30_000

    assert [CONTENT[:size] for size in sizes] == ask(server, *sizes)


def test_a_turn_never_becomes_longer(server, head_size, monkeypatch):
    """waitress sends a head whole. If it is a byte too long for the turn, -1 byte is left: that reads all."""
    asked, get = [], channel.ReadOnlyFileBasedBuffer.get

    def recorded(buffer, size=-1, skip=False):
        asked.append(size)
        return get(buffer, size, skip)

    monkeypatch.setattr(channel.ReadOnlyFileBasedBuffer, "get", recorded)
    ask(server, TURN - 2 * head_size + 1, 30_000)

    assert 0 <= min(asked)
