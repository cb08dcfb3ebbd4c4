"""A request that arrives right after another one started does not wait for its end."""

import socket
import threading
from types import SimpleNamespace

import pytest

from frepo_server import graceful_shutdown
from frepo_server.channel import make_server
from frepo_server.graceful_shutdown import run
from frepo_server.idle_timeout import Timeouts

SECONDS = 20


class Application:
    """`/wait` is answered after `/release` was requested, anything else at once."""

    def __init__(self):
        self.is_released = threading.Event()

    def __call__(self, environ, start_response):
        if environ["PATH_INFO"] == "/release":
            self.is_released.set()
        if environ["PATH_INFO"] == "/wait":
            assert self.is_released.wait(SECONDS)
        start_response("200 OK", [("Content-Length", "0")])
        return []


@pytest.fixture
def connect(monkeypatch):
    """Open a connection to a server with four threads, whose poll waits for a minute if nothing happens."""
    monkeypatch.setattr(graceful_shutdown, "MAX_WAIT", 60)
    server = make_server(Application(), None, listen="127.0.0.1:0", asyncore_use_poll=True, threads=4)
    stop = SimpleNamespace(is_requested=False)
    thread = threading.Thread(target=run, args=[server, stop, 5, Timeouts()])
    thread.start()
    connections = []

    def connect():
        connections.append(socket.create_connection(("127.0.0.1", server.effective_port), SECONDS))
        return connections[-1]

    yield connect
    for connection in connections:
        connection.close()
    stop.is_requested = True
    server.pull_trigger()
    thread.join(SECONDS)
    assert not thread.is_alive()


def ask(connection, *paths):
    connection.sendall(b"".join(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % path for path in paths))


def answers(connection, count):
    received = b""
    while received.count(b"HTTP/1.1 200 OK") < count:
        part = connection.recv(4096)
        assert part, "the connection was closed"
        received += part
    return received


@pytest.mark.parametrize("first", [[b"/wait"], [b"/now", b"/wait"], [b"/now", b"/now", b"/wait"]])
def test_waiting_requests_do_not_hold_up_the_one_that_ends_them(connect, first):
    waiting, last = [connect() for _ in range(3)], connect()
    for connection in waiting:
        ask(connection, *first)
    ask(last, b"/release")

    assert answers(last, 1)
    for connection in waiting:
        assert answers(connection, len(first))
