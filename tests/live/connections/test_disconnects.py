"""A client that disconnects closes only its own connection."""

import contextlib
import select
import socket
import struct
import threading
import time
from types import SimpleNamespace

import pytest
from waitress import wasyncore
from waitress.buffers import OverflowableBuffer

from frepo_server.channel import make_server
from support.wire import head

SECONDS = 30
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: closing sends a reset


@pytest.fixture
def told():
    """Set when the application may answer."""
    return threading.Event()


@pytest.fixture
def asked():
    """Set when the application was called."""
    return threading.Event()


@pytest.fixture
def noticed():
    """What the application was told about its client: whether it is gone."""
    return []


@pytest.fixture
def server(asked, told, noticed):
    """A server whose event loop is called by the test."""

    class Hooks:
        """Delay the application's decision."""

        def new_buffer(self, memory, content_type, query):
            return OverflowableBuffer(memory)

        def decide(self, environ):
            asked.set()
            told.wait(SECONDS)
            return SimpleNamespace(refusal=None, needs_body=True, max_body=None, environ={}, owner=None, sink=None)

    def application(environ, start):
        if environ["PATH_INFO"] == "/slow":
            asked.set()
            told.wait(SECONDS)
            noticed.append(environ["waitress.client_disconnected"]())
        start("200 OK", [("Content-Length", "2")])
        return [b"ok"]

    server = make_server(application, Hooks(), listen="127.0.0.1:0")
    yield server
    server.task_dispatcher.shutdown()
    wasyncore.close_all(map=server._map)


def turn(server):
    wasyncore.loop(timeout=0.2, use_poll=True, map=server._map, count=1)


def test_a_disconnect_after_100_continue_closes_no_other_connection(server, asked, told):
    """The next connection reuses the descriptor of a closed one; events of the old one must not affect it."""
    gone = socket.create_connection(server.socket.getsockname())
    turn(server)
    gone.sendall(head("POST", "/", "Content-Length: 2000000", "Expect: 100-continue"))
    turn(server)
    assert asked.wait(SECONDS)
    [channel] = server.active_channels.values()
    gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    gone.close()
    accept = server.handle_accept

    def accept_late():
        """Let the application answer after the server has selected the ready sockets."""
        told.set()
        end = time.monotonic() + 0.5
        while channel.connected and time.monotonic() < end:
            time.sleep(0.01)
        accept()

    server.handle_accept = accept_late
    with contextlib.closing(socket.create_connection(server.socket.getsockname(), SECONDS)) as other:
        turn(server)
        server.handle_accept = accept
        other.sendall(head("GET", "/"))
        end = time.monotonic() + SECONDS
        while not select.select([other], [], [], 0)[0] and time.monotonic() < end:
            turn(server)

        assert other.recv(100).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("leaves", [True, False])
def test_an_application_notices_that_its_client_is_gone(server, asked, told, noticed, leaves):
    with contextlib.closing(socket.create_connection(server.socket.getsockname())) as client:
        turn(server)
        client.sendall(head("GET", "/slow"))
        turn(server)
        assert asked.wait(SECONDS)
        if leaves:
            client.shutdown(socket.SHUT_RDWR)
        told.set()
        server.task_dispatcher.shutdown(cancel_pending=False, timeout=SECONDS)

    assert [leaves] == noticed
