"""Clients are not disconnected for time in which the server itself did not read."""

import time
from types import SimpleNamespace

import pytest

from frepo_server.idle_timeout import Timeouts
from support.servers.in_process import MemoryBuffer, running_server
from support.wire import Wire, head

SILENCE = 2
STALL = 3.2


class Buffer(MemoryBuffer):
    """A body that begins with `stall` holds up the thread that reads all connections."""

    def append(self, data):
        if data.startswith(b"stall"):
            time.sleep(STALL)
        super().append(data)


def application(environ, start_response):
    body = environ["wsgi.input"].read()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


@pytest.fixture
def server():
    decision = SimpleNamespace(refusal=None, needs_body=True, max_body=None, environ={}, owner=None, sink=None)
    hooks = SimpleNamespace(new_buffer=lambda *_: Buffer(), decide=lambda environ: decision)
    timeouts = Timeouts(body_min_rate=10)
    with running_server(application, hooks, timeouts, channel_timeout=SILENCE, cleanup_interval=1) as server:
        yield server


def test_a_client_that_sends_while_the_server_does_not_read_is_not_idle(server):
    with Wire(server) as sender, Wire(server) as slow_body:
        sender.send(head("POST", "/", "Content-Length: 10"), b"hello")
        time.sleep(0.1)
        slow_body.send(head("POST", "/", "Content-Length: 5"), b"stall")
        for _ in range(4):
            time.sleep(STALL / 5)
            sender.send(b"x")
        statuses = [slow_body.reply().status, sender.send(b"x").reply().status]

    assert [200, 200] == statuses


@pytest.mark.slow
def test_a_silent_client_is_disconnected(server):
    started = time.monotonic()
    with Wire(server) as wire:
        wire.send(head("POST", "/", "Content-Length: 10"), b"hello")
        rest = wire.rest()

    assert b"" == rest
    assert SILENCE < time.monotonic() - started < 30
