"""Clients are not disconnected for time in which the server itself did not read."""

import threading
import time
from types import SimpleNamespace

import pytest

from frepo_server.idle_timeout import Timeouts
from support.servers.in_process import MemoryBuffer, running_server
from support.wire import Wire, head

SILENCE = 2


class Buffer(MemoryBuffer):
    """A body that begins with `stall` holds up the thread that reads all connections, until `may_read` is set."""

    def __init__(self, may_read):
        super().__init__()
        self._may_read = may_read

    def append(self, data):
        if bytes(data[:5]) == b"stall":
            self._may_read.wait(60)
        super().append(data)


def application(environ, start_response):
    body = environ["wsgi.input"].read()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


@pytest.fixture
def may_read():
    return threading.Event()


@pytest.fixture
def server(may_read):
    decision = SimpleNamespace(refusal=None, needs_body=True, max_body=None, environ={}, owner=None, sink=None)
    hooks = SimpleNamespace(new_buffer=lambda *_: Buffer(may_read), decide=lambda environ: decision)
    timeouts = Timeouts(body_min_rate=10)
    with running_server(application, hooks, timeouts, channel_timeout=SILENCE, cleanup_interval=1) as server:
        yield server


def test_a_client_that_sends_while_the_server_does_not_read_is_not_idle(server, may_read):
    with Wire(server) as sender, Wire(server) as slow_body:
        sender.send(head("POST", "/", "Transfer-Encoding: chunked"), b"5\r\nhello\r\n")
        time.sleep(0.1)
        slow_body.send(head("POST", "/", "Content-Length: 5"), b"stall")
        time.sleep(SILENCE + 0.5)  # before anything that the server reads next was sent
        sender.send(b"5\r\nworld\r\n0\r\n\r\n")
        may_read.set()
        statuses = [slow_body.reply().status, sender.reply().status]

    assert [200, 200] == statuses
