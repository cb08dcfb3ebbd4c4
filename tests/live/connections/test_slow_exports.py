"""Exports are complete before they are sent, two at a time, and a client that reads slowly keeps no thread."""

import contextlib
import json
import sqlite3

import pytest

from support.wire import Client, Wire, eventually, head

THREADS = 8
EXPORT = "/api/v1/events.jsonl?kind=job.failed"
EVENTS, SIZE = 100, 400_000  # more than the 16 MiB that the server queues, and the kernel


@pytest.fixture(scope="module")
def service(tmp_path_factory, make_service):
    service = make_service(tmp_path_factory.mktemp("exports"))
    service.start()
    data = json.dumps({"error": "x" * SIZE})
    with contextlib.closing(sqlite3.connect(service.folder / "frepo.db", timeout=30)) as database, database:
        database.executemany(
            "INSERT INTO event (position, at, kind, actor, data) VALUES (?, '2026-01-01', 'job.failed', 'system:a', ?)",
            [(10**6 + number, data) for number in range(EVENTS)],
        )
    yield service
    service.stop()


@pytest.fixture
def client(service):
    return Client(service)


@pytest.mark.costly
def test_slow_readers_of_exports_hold_up_no_other_request(service, client):
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(Wire(service)) for _ in range(THREADS)]
        for wire in slow:
            wire.send(head("GET", EXPORT, client.auth))
        heads = [wire.socket.recv(300) for wire in slow]

        assert 200 == client.request("GET", "/version").status

        refused = [text for text in heads if text.startswith(b"HTTP/1.1 429")]
        assert THREADS - 2 == len(refused)
        assert all(b"Retry-After: 10" in text for text in refused)
    assert 200 == eventually(200, lambda: client.request("GET", EXPORT, headers={}).status)


@pytest.mark.costly
def test_an_export_is_whole_and_says_its_length(client):
    reply = client.request("GET", EXPORT)

    assert EVENTS == len(reply.body.splitlines())
    assert str(len(reply.body)) == reply.headers["Content-Length"]


def test_a_head_takes_no_place(client):
    assert [200] * 3 == [client.request("HEAD", EXPORT).status for _ in range(3)]
