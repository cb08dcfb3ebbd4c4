"""Clients that read slowly what is produced while it is sent do not keep the server's threads from others."""

import contextlib
import threading

import pytest

from frepo_server import task_dispatcher
from support.servers.in_process import running_server
from support.wire import Wire, eventually, head

THREADS = 4
PIECE = 1 << 20
PIECES = 40  # more than the 16 MiB that the server queues, and the kernel


class Produced:
    """An answer whose pieces are made one by one, as those of a file in a remote storage."""

    def __init__(self, begun):
        self._begun = begun

    def __iter__(self):
        self._begun.append(self)
        for _ in range(PIECES):
            yield bytes(PIECE)


@pytest.fixture
def begun():
    return []


@pytest.fixture
def server(begun):
    def application(environ, start_response):
        size = PIECES * PIECE if environ["PATH_INFO"] == "/large" else 0
        start_response("200 OK", [("Content-Length", str(size))])
        return Produced(begun) if size else []

    with running_server(application, threads=THREADS) as server:
        yield server


def begin(server, stack, count):
    """Begin so many downloads, and read nothing of them."""
    wires = [stack.enter_context(Wire(server)) for _ in range(count)]
    for wire in wires:
        wire.send(head("GET", "/large"))
    return wires


@pytest.mark.costly
def test_slow_readers_of_produced_answers_hold_up_no_other_request(server, begun):
    with contextlib.ExitStack() as stack:
        slow = begin(server, stack, 2 * THREADS)
        assert 2 * THREADS == eventually(2 * THREADS, lambda: len(begun))

        with Wire(server) as wire:
            assert 200 == wire.send(head("GET", "/")).reply("GET").status

        assert [PIECES * PIECE] * len(slow) == [len(wire.reply("GET").body) for wire in slow]


def count_threads():
    return sum(thread.name.startswith("waitress-") for thread in threading.enumerate())


def test_more_of_them_than_there_may_be_are_broken_off(server, monkeypatch, caplog):
    monkeypatch.setattr(task_dispatcher, "MAX_LENT", 3)
    with contextlib.ExitStack() as stack:
        slow = begin(server, stack, 3)
        assert THREADS + 3 == eventually(THREADS + 3, count_threads)
        (fourth,) = begin(server, stack, 1)

        assert eventually(True, lambda: "an answer is broken off: 3 other clients" in caplog.text)
        assert len(fourth.rest()) < PIECES * PIECE
        assert [PIECES * PIECE] * len(slow) == [len(wire.reply("GET").body) for wire in slow]
    with Wire(server) as wire:
        assert 200 == wire.send(head("GET", "/large")).reply("GET").status
