"""Many clients, several processes, few collections: limits, numbers and bytes stay correct."""

import hashlib
import os
import random
import threading
import time

import pytest

from frepo_core.domain.limits import ONE, TOTAL
from frepo_core.errors import CollectionFullError, FrepoError, VersionConflictError
from frepo_core.testing.sources import Source
from support.reliability.invariants import Ledger
from support.reliability.recording_client import (
    NOTHING_PUT_OFF,
    RecordingClient,
    assert_holds_after_sweep,
    in_threads,
)
from support.scale import IS_BIG
from support.servers.fork_server import ForkedService
from support.servers.service import Service

SECONDS = 60 if IS_BIG else 2
CLIENTS = 50 if IS_BIG else 12
PROCESSES = 4 if IS_BIG else 2


@pytest.fixture
def processes(tmp_path, database_url, fork_server):
    """Processes over one database and one storage."""
    services: list[Service] = []
    for number in range(PROCESSES):
        folder = tmp_path / str(number)
        folder.mkdir()
        shared = {
            "DATABASE_URL": database_url,
            "FS_LOCAL_DIRECTORY": str(tmp_path / "storage"),
            "APP_SECRETS_FILE": str(tmp_path / "secrets.json"),
            **NOTHING_PUT_OFF,
        }
        services.append(ForkedService(folder, fork_server, shared))
        services[-1].start()
        services[-1]._admin = services[0].admin
    yield services
    for service in services:
        service.stop()


@pytest.fixture
def callers(processes):
    ledger = Ledger()
    return [RecordingClient(service, ledger) for service in processes]


@pytest.mark.databases
def test_concurrent_clients_violate_no_invariant(processes, callers):
    """Concurrent pushes, equal contents, deletions, edits and downloads on three small collections."""
    ledger = callers[0].ledger
    collections = [callers[0].collection(3) for _ in range(3)]
    common = [os.urandom(60_000) for _ in range(3)]
    end, statuses = time.monotonic() + SECONDS, []

    def act(seed):
        rng, caller = random.Random(seed), callers[seed % len(callers)].with_own_token()
        while time.monotonic() < end:
            collection, chance = rng.choice(collections), rng.random()
            if chance < 0.45:
                status = caller.push_and_record(collection, rng.randbytes(rng.choice([10, 3000, 700_000])))
            elif chance < 0.65:
                status = caller.push_and_record(collection, rng.choice(common))
            elif chance < 0.75:
                status = caller.upload_and_record(rng.choice(common), f"{seed}.bin")
            elif chance < 0.85:
                status = caller.delete_and_record(
                    collection, rng.choice([int(n) for n in caller.versions(collection)] or [1])
                )
            else:
                status = _read_whole(caller, collection)
            statuses.append(status)

    for thread in in_threads(*(lambda seed=seed: act(seed) for seed in range(CLIENTS))):
        thread.join(SECONDS + 60)
    for service in processes:
        service.stop()
    assert_holds_after_sweep(processes[0], ledger)

    assert {200} <= set(statuses) <= {200, 202, 400, 404}
    assert not [line for service in processes for line in service.log.read_text().splitlines() if " ERROR " in line]


def _read_whole(caller, collection):
    """Download a version: complete, or deleted by now, but never other bytes."""
    for version in caller.versions(collection).values():
        reply = caller.request("GET", version["url"].removeprefix(caller.service.url), token=False)
        if reply.status == 200:
            assert version["details"]["sha256"] == hashlib.sha256(reply.body).hexdigest()
        return reply.status
    return 200


@pytest.mark.databases("postgresql")
def test_limits_changed_during_pushes_apply_to_the_next_version(processes, callers):
    collection, ledger = callers[0].collection(3), callers[0].ledger
    clients = [callers[number % len(callers)].with_own_token() for number in range(6)]
    end = time.monotonic() + SECONDS / 2

    def push(number):
        while time.monotonic() < end:
            clients[number].push_and_record(collection, os.urandom(1000))

    def edit():
        while time.monotonic() < end:
            callers[-1].edit_and_record(collection, maxBackupsCount=random.choice([1, 2, 3, 5]))

    for thread in in_threads(edit, *(lambda number=number: push(number) for number in range(6))):
        thread.join(60)
    callers[0].edit_and_record(collection, maxBackupsCount=2)
    status = callers[0].push_and_record(collection, os.urandom(1000))
    kept = len(callers[0].versions(collection))
    for service in processes:
        service.stop()
    assert_holds_after_sweep(processes[0], ledger)

    assert (200, 2) == (status, kept)


@pytest.mark.databases("sqlite", "postgresql")
def test_one_of_two_versions_that_do_not_fit_together_is_refused(world):
    for _ in range(10):
        collection = world.collection(0, limits={ONE: 10, TOTAL: 15}, strategy="alert_when_backup_limit_reached")
        outcomes = _at_once(lambda content, c=collection: world.push(c, content), [b"a" * 10, b"b" * 10])

        assert [1] == world.numbers(collection)
        assert [CollectionFullError] == [type(outcome) for outcome in outcomes if outcome != 1]


@pytest.mark.databases("sqlite", "postgresql")
def test_adopting_a_blob_while_its_last_user_is_deleted_keeps_its_bytes(world):
    """In either order, acknowledged content can be downloaded. The world's invariants check it at the end."""
    for number in range(15):
        content, collection = b"shared %d" % number, world.collection()
        name = world.upload(content, f"{number}.txt")
        outcomes = _at_once(
            lambda do: do(),
            [lambda n=name: world.remove(n), lambda c=collection, b=content: world.push(c, b)],
        )

        assert [None, 1] == outcomes


def test_a_download_of_a_version_that_rotation_removes_is_complete(world, services):
    """An open file stays readable on a local disk; on other storages the read may fail."""
    collection, content = world.collection(1), os.urandom(3_000_000)
    world.push(collection, content)
    blob = services.versions.find(collection, "v1").file.blob
    with services.stored_content.open(blob) as reader:
        head = reader.read(1000)
        world.push(collection, b"new")
        rest = reader.read()

    assert content == head + rest


def test_an_upload_whose_token_is_revoked_meanwhile_is_complete_or_refused(processes, callers):
    """The token is checked when the request arrives: requests accepted before the revocation store a version."""
    caller, ledger = callers[0], callers[0].ledger
    collection = caller.collection(0)
    body = b'{"roles": ["upload.backup", "collections.upload_to_allowed_collections"], "data": {}, "expires": "never"}'
    tokens = [caller.request("POST", "/auth/token/generate", body).json["tokenId"] for _ in range(2)]
    for token in tokens:
        ledger.secrets.add(token)
        caller.request("POST", f"/repository/collection/{collection}/token", b'{"token": "%s"}' % token.encode())
    statuses: list[int] = []

    def push(token):
        status = 200
        while status == 200:
            content = os.urandom(400_000)
            reply = caller.push(collection, content, {"X-Auth-Token": token})
            status = reply.status
            statuses.append(status)
            if status == 200:
                ledger.acknowledge(collection, reply.json["version"]["version"], content)

    threads = in_threads(*(lambda token=token: push(token) for token in tokens))
    while len(statuses) < 6:
        time.sleep(0.01)
    for token in tokens:
        caller.request("DELETE", f"/auth/token/{token}")
    for thread in threads:
        thread.join(60)
    count = len(caller.versions(collection))
    processes[0].stop()
    assert_holds_after_sweep(processes[0], ledger)

    assert (2, statuses.count(200)) == (statuses.count(403), count)


def test_an_upload_with_an_outdated_if_match_after_its_body_is_refused(world):
    """The last version changes between the head of the request and the write."""
    collection = world.collection()
    source = Source(1 << 21, at=1 << 20, do=lambda: world.push(collection, b"faster"))
    with pytest.raises(VersionConflictError):
        world.push(collection, b"", stream=source, after=0)

    assert [1] == world.numbers(collection)


def test_a_slow_upload_holds_no_lock(world):
    """No transaction is open while a body arrives: others can write to the same collection."""
    collection, begun, go_on = world.collection(), threading.Event(), threading.Event()

    def wait():
        begun.set()
        go_on.wait(60)

    source = Source(1 << 20, at=1 << 19, do=wait)
    content = Source(1 << 20).read()
    threads = in_threads(lambda: world.push(collection, content, stream=source))
    begun.wait(60)
    fast = world.push(collection, b"fast")
    go_on.set()
    threads[0].join(60)

    assert (1, [1, 2]) == (fast, world.numbers(collection))


def _at_once(function, arguments):
    """Call with each argument concurrently; return results and refusals in order."""
    barrier, outcomes = threading.Barrier(len(arguments)), [None] * len(arguments)

    def call(index):
        barrier.wait(60)
        try:
            outcomes[index] = function(arguments[index])
        except FrepoError as error:
            outcomes[index] = error

    for thread in in_threads(*(lambda index=index: call(index) for index in range(len(arguments)))):
        thread.join(60)
    return outcomes
