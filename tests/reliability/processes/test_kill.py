"""SIGKILL of the real service at random moments of uploads, pins and deletions, and at named points of a write."""

import contextlib
import itertools
import os
import random
import signal
import threading
import time

import pytest

from frepo_core.services.base.failpoints import ENVIRONMENT, POINTS
from support.reliability.invariants import Ledger, digest_of, eventually
from support.reliability.protections import Protections
from support.reliability.recording_client import (
    BROKEN,
    NOTHING_PUT_OFF,
    RecordingClient,
    assert_holds_after_sweep,
    in_threads,
    services_of,
)
from support.reliability.world import World
from support.scale import IS_BIG
from support.servers.fork_server import ForkedService
from support.wire import blob_files

KILLS = 200 if IS_BIG else 12
# With the trash, an upload collects no blobs. These points are the last ones.
WITHOUT_TRASH = ("collect", "object_doomed", "object_deleted", "collected")
ROUNDS = 8  # kills between two complete checks


@pytest.fixture
def killable(tmp_path, fork_server):
    """A service that is started and ended by the test."""
    service = ForkedService(tmp_path, fork_server, NOTHING_PUT_OFF)
    service.start()
    yield service
    service.stop()


def restart(service, **environment):
    service.environment.pop(ENVIRONMENT, None)
    service.environment |= environment
    service.start()


def test_a_kill_at_any_moment_loses_nothing_acknowledged(killable):
    seed = random.randrange(1 << 32)
    rng, ledger = random.Random(seed), Ledger()
    caller = RecordingClient(killable, ledger)
    collections = [caller.collection(2) for _ in range(2)]
    print(f"seed {seed}")
    statuses = []

    def push(collection, size):
        while (status := caller.push_and_record(collection, os.urandom(size))) == 200:
            statuses.append(status)

    protections, answered = Protections(caller), set()

    def protect():
        with contextlib.suppress(*BROKEN):
            while True:
                answered.add(protections.act(rng, caller))

    for act in itertools.count():  # so that something is pinned, in quarantine and in the trash when the kills begin
        answered.add(protections.act(rng, caller))
        if act > 20 and {200, 201} <= answered:
            break
    for kill in range(KILLS):
        before = len(statuses)
        threads = in_threads(*(lambda c=c, s=s: push(c, s) for c in collections for s in (50_000, 700_000)), protect)
        assert eventually(lambda before=before: len(statuses) > before)  # so that each kill hits requests
        time.sleep(rng.uniform(0, 0.25))
        killable.stop(signal.SIGKILL)
        for thread in threads:
            thread.join(60)
        if kill % ROUNDS == ROUNDS - 1:
            assert_holds_after_sweep(killable, ledger)
        restart(killable)
    killable.stop()
    assert_holds_after_sweep(killable, ledger)

    assert statuses
    assert 500 not in answered


def test_a_kill_at_every_named_point_loses_nothing(killable):
    """The pushes rotate, heal damaged bytes and collect blobs, so that every point is reached."""
    ledger = Ledger()
    caller = RecordingClient(killable, ledger)
    reached = []
    killable.stop()
    for point in POINTS:
        content = os.urandom(700_000)
        if point in WITHOUT_TRASH:
            killable.environment["TRASH_KEEP"] = "0"
        with services_of(killable) as services:
            world = World(services, ledger)
            collection, other = world.collection(1), world.collection()
            world.push(collection, f"old {point}".encode())
            if point == "damaged_replaced":
                world.push(other, content)
                spoil(next(path for path in blob_files(killable) if digest_of(content) in path))
        restart(killable, **{ENVIRONMENT: point})
        status = caller.push_and_record(collection, content)
        reached += [point] if status == 0 and killable.process.wait(60) == -signal.SIGKILL else []
        if point == "damaged_replaced":
            ledger.acknowledge(collection, 2, content)  # committed, though its answer was lost
        assert_holds_after_sweep(killable, ledger)
        with services_of(killable) as services:
            World(services, ledger).push(collection, content)
    assert_holds_after_sweep(killable, ledger)

    assert list(POINTS) == reached


def spoil(path):
    """Shorten the file: the next upload of the same content heals it."""
    with open(path, "r+b") as file:
        file.truncate(5)


def test_a_stop_completes_running_requests(killable):
    """SIGTERM drains: an accepted upload is answered, and no temporary data is left."""
    ledger = Ledger()
    caller = RecordingClient(killable, ledger)
    collection = caller.collection(2)
    statuses = []
    started = threading.Event()

    def push():
        with_body = os.urandom(3_000_000)
        started.set()
        statuses.append(caller.push_and_record(collection, with_body))

    threads = in_threads(push)
    started.wait(60)
    killable.process.send_signal(signal.SIGTERM)
    for thread in threads:
        thread.join(60)
    killable.process.wait(60)
    assert_holds_after_sweep(killable, ledger)

    assert statuses[0] in {0, 200}
