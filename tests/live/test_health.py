"""`/health` of a real server: a check that hangs, and a database without tables."""

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from support.reliability.faulty import ENVIRONMENT, faulty_ini, order
from support.servers.fork_server import ForkedService, ScriptService
from support.wire import Client, eventually

CODE = "a-code"
DEADLINE = 5
THREADS = 3  # of the server; fewer than concurrent polls
POLLS = 20
HANGS = 120  # seconds; a service that does not stop is killed after 60


@pytest.fixture
def service(request, tmp_path, fork_server):
    """A service whose storage fails as a file specifies; a fork, unless the test names another class."""
    environment = {ENVIRONMENT: str(tmp_path / "faults.json"), "HEALTH_CHECK_CODE": CODE}
    ini = faulty_ini(tmp_path / "service.ini", threads=THREADS)
    service = getattr(request, "param", ForkedService)(tmp_path, fork_server, environment, ini)
    service.start()
    yield service
    service.stop()


@pytest.fixture
def client(service):
    return Client(service)  # made first: its token needs a database that works


@pytest.fixture
def poll(client):
    return lambda: client.request("GET", f"/health?code={CODE}", token=False)


@pytest.fixture
def hang(tmp_path):
    return lambda seconds: order(tmp_path / "faults.json", {"method": "check", "kind": "stall", "seconds": seconds})


def thread_count(service):
    lines = Path(f"/proc/{service.pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("Threads:")))


def test_a_check_that_hangs_is_reported_and_blocks_nothing(service, client, poll, hang):
    hang(HANGS)
    start = time.monotonic()
    with ThreadPoolExecutor(POLLS) as pool:
        replies = list(pool.map(lambda _: poll(), range(POLLS)))
    polled = time.monotonic() - start
    threads = thread_count(service)
    replies += [poll() for _ in range(POLLS)]
    greeted = client.request("GET", "/", token=False).status
    took = time.monotonic() - start

    assert {503} == {reply.status for reply in replies}
    works = {"database": True, "worker": True, "jobs": True, "collection_problems": True}
    assert all(reply.json["status"] == {"storage": False, **works} for reply in replies)
    assert all("has been running for" in reply.json["messages"]["storage"][0] for reply in replies)
    assert 200 == greeted
    # A job that runs now has a thread, too, but not for long.
    assert eventually(True, lambda: thread_count(service) <= threads), "further polls started threads"
    assert DEADLINE <= polled < HANGS
    assert took - polled < POLLS * DEADLINE / 2


@pytest.mark.costly
def test_a_check_that_answers_again_is_healthy_again(tmp_path, poll, hang):
    hang(DEADLINE + 1)
    first = poll()
    order(tmp_path / "faults.json")

    assert (first.status, eventually(200, lambda: poll().status)) == (503, 200)


@pytest.mark.costly
@pytest.mark.own_server
@pytest.mark.parametrize("service", [ScriptService], indirect=True)  # a fork does not wait for its threads
def test_a_check_that_hangs_does_not_keep_the_service_from_stopping(service, poll, hang):
    hang(HANGS)
    poll()
    service.stop()

    assert service.process.returncode == 0


@pytest.mark.costly
@pytest.mark.parametrize(
    ("gone", "reason"), [(None, "The database has no schema of frepo"), ("object", "lacks the tables: object")]
)
def test_missing_tables_are_reported(service, poll, gone, reason):
    with closing(sqlite3.connect(service.folder / "frepo.db")) as database:
        database.execute("PRAGMA foreign_keys = OFF")
        found = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        for name in [row[0] for row in found if gone in (None, row[0])]:
            database.execute(f"DROP TABLE IF EXISTS {name}")
        database.commit()
    reply = poll()

    assert (reply.status, reply.json["status"]) == (
        503,
        {"storage": True, "database": False, "worker": False, "jobs": False, "collection_problems": False},
    )
    assert reason in reply.json["messages"]["database"][0]
