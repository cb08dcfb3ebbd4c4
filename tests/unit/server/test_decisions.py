"""What the application decides before a body arrives is in the environment of the request."""

import threading
from types import SimpleNamespace

import pytest

from support.servers.in_process import MemoryBuffer, running_server
from support.wire import Wire, head


def application(environ, start_response):
    body = environ["wsgi.input"].read() + str(environ.get("noted")).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


@pytest.fixture
def decided():
    """Set when the application has decided."""
    return threading.Event()


@pytest.fixture
def server(decided):
    numbers = iter(range(1, 10))

    def decide(environ):
        decided.set()
        number = next(numbers)
        return SimpleNamespace(
            refusal=None, needs_body=True, max_body=10 * number, environ={"noted": number}, owner="a", sink=None
        )

    hooks = SimpleNamespace(new_buffer=lambda *_: MemoryBuffer(), decide=decide)
    with running_server(application, hooks, cleanup_interval=1) as server:
        yield server


@pytest.mark.slow
def test_a_small_body_that_does_not_arrive_at_once_is_decided_meanwhile(server, decided):
    with Wire(server) as wire:
        wire.send(head("POST", "/", "Content-Length: 6"), b"mon")
        assert decided.wait(20)

        assert b"monday1" == wire.send(b"day").reply().body


def test_a_body_that_is_decided_again_keeps_what_was_noted_first(server, decided):
    with Wire(server) as wire:
        wire.send(head("POST", "/", "Content-Length: 15", "Expect: 100-continue"))
        assert wire.socket.recv(100).startswith(b"HTTP/1.1 100")

        assert b"monday, tuesday1" == wire.send(b"monday, tues", b"day").reply().body
