"""The idle timeout, at the moment of a race that real clients hit once in a thousand requests."""

import socket
import threading
import time

import pytest
from waitress import wasyncore

from frepo_server.channel import make_server
from frepo_server.early_response import EarlyResponseChannel
from frepo_server.idle_timeout import IdleTimeout

ANSWER = b"x" * 100_000


@pytest.fixture
def asked():
    """Set when the application has the request; it answers when `may_answer` is set."""
    return threading.Event()


@pytest.fixture
def may_answer():
    return threading.Event()


@pytest.fixture
def server(asked, may_answer):
    def application(environ, start_response):
        asked.set()
        may_answer.wait(60)
        start_response("200 OK", [("Content-Length", str(len(ANSWER)))])
        return [ANSWER]

    server = make_server(application, None, listen="127.0.0.1:0", channel_timeout=60, cleanup_interval=0)
    yield server
    server.task_dispatcher.shutdown()
    wasyncore.close_all(server._map)


def test_a_client_that_waited_long_is_not_disconnected_while_its_answer_is_sent(server, asked, may_answer):
    idle = IdleTimeout(server, server._map)
    with socket.create_connection((server.effective_host, server.effective_port), 60) as client:
        client.sendall(b"GET / HTTP/1.0\r\n\r\n")
        while not asked.is_set():
            wasyncore.loop(timeout=0.01, map=server._map, count=1)
        (channel,) = [each for each in server._map.values() if isinstance(each, EarlyResponseChannel)]
        channel._last_activity -= 61
        send = channel.send

        def send_during_the_idle_check(*arguments, **more):
            idle.check(time.monotonic())
            return send(*arguments, **more)

        channel.send = send_during_the_idle_check
        may_answer.set()
        got = b""
        client.settimeout(0.01)
        while not got.endswith(ANSWER) and channel.connected:
            wasyncore.loop(timeout=0.01, map=server._map, count=1)
            try:
                got += client.recv(1 << 20)
            except TimeoutError:
                continue

    assert got.endswith(ANSWER)
