"""Two processes: of one host, which take parts of the same upload, and of two hosts, one of which is lost."""

import hashlib
import itertools
import threading
import time
from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import make_engine, utc_now
from frepo_core.db.models import PluginValue
from support.scale import first_of
from support.tus.client import PART
from support.tus.wire_client import WireTus, digests
from support.wire import Client, Wire, eventually, head

CONTENT = b"".join(b"insert into a values (%d);\n" % number for number in range(40_000))
DIGEST = hashlib.sha256(CONTENT).hexdigest()
STEP = 100_000
SHARED = ("APP_SECRETS_FILE", "DATABASE_URL", "FS_LOCAL_DIRECTORY")

pytestmark = pytest.mark.databases(*first_of(["sqlite", "postgresql"]))


@pytest.fixture
def clients(start_service, fresh_database_url):
    """Clients of two processes with one database, one storage and one folder for uploads."""
    first = start_service(DATABASE_URL=fresh_database_url)
    second = start_service(**{name: first.environment[name] for name in SHARED})
    return [Client(first), Client(second, first.admin)]


@pytest.fixture
def processes(clients):
    return [WireTus(client) for client in clients]


@pytest.fixture
def collection(clients):
    return clients[0].collection(20)


@pytest.mark.costly
def test_the_processes_take_parts_in_turn(clients, processes, collection):
    path = processes[0].create(len(CONTENT), collection=collection)
    turns = itertools.cycle(reversed(processes))
    statuses = [next(turns).patch(path, at, CONTENT[at : at + STEP]).status for at in range(0, len(CONTENT), STEP)]

    assert {204} == {*statuses}
    assert [len(CONTENT)] * 2 == [process.offset(path) for process in processes]
    assert [DIGEST] == digests(clients[1], collection)


@pytest.mark.own_server  # stock waitress hands a body over when it is complete
def test_a_second_writer_is_refused_and_nothing_is_lost(clients, processes, collection):
    path = processes[0].create(len(CONTENT), collection=collection)
    fields = ["Tus-Resumable: 1.0.0", "Upload-Offset: 0", f"Content-Type: {PART}", f"Content-Length: {STEP}"]
    with Wire(clients[0].service) as first:
        first.send(head("PATCH", path, clients[0].auth, *fields), CONTENT[: STEP // 2])
        wait_until_it_writes(clients[0].service, path)
        refused = processes[1].patch(path, 0, CONTENT[:STEP])
        first.send(CONTENT[STEP // 2 : STEP])
        taken = first.reply("PATCH")

    assert (409, True) == (refused.status, "Retry-After" in refused.headers)
    assert (204, str(STEP)) == (taken.status, taken.headers["Upload-Offset"])
    assert 204 == processes[1].patch(path, STEP, CONTENT[STEP:]).status
    assert [DIGEST] == digests(clients[0], collection)


def wait_until_it_writes(service, path):
    """Wait until bytes of the first writer are on the disk."""
    file = service.storage.parent / "uploads" / f"{path.rpartition('/')[2]}.part"
    deadline = time.monotonic() + 30
    while not file.stat().st_size:
        assert time.monotonic() < deadline, "no byte was written"
        time.sleep(0.01)


@pytest.mark.costly
def test_of_two_equal_parts_at_once_one_is_taken(clients, processes, collection):
    path = processes[0].create(len(CONTENT), collection=collection)
    for at in range(0, len(CONTENT), STEP):
        start, statuses = threading.Barrier(2), []

        def send(process, at=at, start=start, statuses=statuses):
            start.wait()
            statuses.append(process.patch(path, at, CONTENT[at : at + STEP]).status)

        threads = [threading.Thread(target=send, args=(process,)) for process in processes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert 204 in statuses
        assert {*statuses} <= {204, 409, 423}

    assert [DIGEST] == digests(clients[0], collection)


@pytest.mark.costly
def test_an_upload_of_a_host_that_is_gone_is_given_up(start_service, fresh_database_url, tmp_path):
    own = {"UPLOADS_HOST": "backup9", "UPLOADS_DIRECTORY": str(tmp_path / "uploads")}
    gone = start_service(DATABASE_URL=fresh_database_url, WORKER_IN_PROCESS="false", **own)
    client = Client(gone)
    path = WireTus(client).create(len(CONTENT), collection=client.collection(20))
    gone.process.kill()
    shared = {name: gone.environment[name] for name in SHARED}
    survivor = start_service(**shared, UPLOADS_HOST="backup1")
    there = WireTus(Client(survivor, gone.admin))
    statuses = [there.head(path).status]
    seen_two_days_ago(fresh_database_url, "host/backup9")
    statuses.append(there.head(path).status)
    survivor.frepo("jobs:run", "uploads")

    assert [503, 410] == statuses
    assert eventually(True, lambda: "'backup9' was last there" in told(survivor))


def told(service):
    """Return what the event about the lost host says; nothing until a worker has numbered it."""
    return service.frepo("events", "--kind", "uploads.host_lost", "-f", "json")


def seen_two_days_ago(url, key):
    """Make the note of a host as old as it would be if the host had been away for longer than `uploads.expire`."""
    engine = make_engine(url)
    with Session(engine) as session, session.begin():
        row = session.scalars(select(PluginValue).where(PluginValue.key == key)).one()
        row.value = row.value | {"seen_at": (utc_now() - timedelta(hours=49)).isoformat()}
    engine.dispose()
