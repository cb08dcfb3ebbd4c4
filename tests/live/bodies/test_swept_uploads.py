"""An upload that waits for the database after storing its bytes: a sweep must not lose acknowledged content."""

import contextlib
import json
import os
import signal
import sqlite3
import threading
import time

import pytest

from support.servers.processes import freeze
from support.wire import Client, blob_files, eventually


@pytest.fixture
def client(start_service):
    return Client(start_service())


@pytest.fixture
def locked(client):
    """Hold SQLite's write lock until the function is called."""
    with contextlib.closing(
        sqlite3.connect(client.service.folder / "frepo.db", isolation_level=None, check_same_thread=False)
    ) as other:
        other.execute("BEGIN IMMEDIATE")
        yield lambda: other.execute("ROLLBACK")


def sweep_away(client):
    """Make the stored bytes look old, as after a clock change, and sweep."""
    for path in blob_files(client.service):
        os.utime(path, (time.time() - 7200,) * 2)
    report = client.service.frepo("storage:sweep", "--grace", "1h", "--yes-delete", "1", "-f", "json")
    assert 1 == json.loads(report)["orphans"]


@pytest.mark.parametrize("body", [b"small", bytes(3 << 20)], ids=["small", "large"])
def test_bytes_that_were_swept_during_the_wait_are_stored_again(client, body, locked):
    answers = []
    pushing = threading.Thread(target=lambda: answers.append(client.upload(body)))
    pushing.start()
    assert (1, []) == (eventually(1, lambda: len(blob_files(client.service))), answers)
    time.sleep(1.2)  # a shorter wait needs no check: the shortest grace period is an hour
    freeze(client.service.process.pid)  # the upload waits on, but the sweep can write to the database
    try:
        locked()
        sweep_away(client)
        assert [] == blob_files(client.service)
    finally:
        client.service.process.send_signal(signal.SIGCONT)
    pushing.join(60)

    assert [200] == [answer.status for answer in answers]
    assert body == client.content(answers[0])
