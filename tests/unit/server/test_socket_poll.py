"""Open connections that are idle do not make requests slower, and changes by workers are noticed at once."""

import time
from collections import Counter

import pytest

from frepo_server import socket_poll
from frepo_server.early_response import EarlyResponseChannel
from support.servers.in_process import running_server
from support.wire import Wire, head

IDLE = 50
REQUESTS = 20
LARGE = 32 << 20


def application(environ, start_response):
    environ["wsgi.input"].read()
    body = bytes(LARGE if environ["PATH_INFO"] == "/large" else 2)
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(socket_poll, "CHECK_SECONDS", 30)  # nothing works by the regular check only
    with running_server(application) as server:
        yield server


@pytest.fixture
def checks(monkeypatch):
    """Count how often each connection was asked whether it reads."""
    counted = Counter()
    readable = EarlyResponseChannel.readable

    def count(channel):
        counted[id(channel)] += 1
        return readable(channel)

    monkeypatch.setattr(EarlyResponseChannel, "readable", count)
    return counted


def ask(wire):
    return wire.send(head("GET", "/")).reply().status


def test_idle_connections_are_not_checked_at_each_request(server, checks):
    idle = [Wire(server) for _ in range(IDLE)]
    with Wire(server) as busy:
        assert {200} == {ask(wire) for wire in idle}
        time.sleep(0.1)
        checks.clear()

        assert {200} == {ask(busy) for _ in range(REQUESTS)}

    assert len(checks) <= 2
    assert {200} == {ask(wire) for wire in idle}
    for wire in idle:
        wire.close()


def test_a_connection_that_got_the_descriptor_of_a_closed_one_is_served(server):
    for _ in range(REQUESTS):
        with Wire(server) as first, Wire(server) as second:
            assert [200, 200, 200] == [ask(first), ask(second), ask(first)]


def test_an_answer_that_the_client_reads_slowly_is_sent_and_the_connection_closed(server):
    started = time.monotonic()
    with Wire(server) as wire:
        wire.send(head("GET", "/large", "Connection: close"))
        time.sleep(0.2)
        reply = wire.reply()

        assert (200, LARGE) == (reply.status, len(reply.body))
        assert b"" == wire.rest()
    assert time.monotonic() - started < 10


def test_a_second_request_that_waited_for_the_first_is_served(server):
    with Wire(server) as wire:
        wire.send(head("GET", "/large") + head("GET", "/") + head("GET", "/"))

        assert [LARGE, 2, 2] == [len(wire.reply().body) for _ in range(3)]


def test_a_body_that_arrives_in_parts_is_received(server):
    with Wire(server) as wire:
        wire.send(head("POST", "/", "Content-Length: 4"))
        for _ in range(4):
            time.sleep(0.02)
            wire.send(b"x")

        assert 200 == wire.reply().status


def test_a_server_without_epoll_serves(monkeypatch):
    monkeypatch.delattr(socket_poll.select, "epoll")
    with running_server(application) as server, Wire(server) as wire:
        assert 200 == ask(wire)
