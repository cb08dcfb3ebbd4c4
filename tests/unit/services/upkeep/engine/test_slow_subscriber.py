"""A subscriber that takes a minute for an event delays neither other subscribers nor jobs nor the lease."""

import logging
import threading
import time

import pytest

from frepo_core.domain.event_kinds import EventKind
from frepo_core.plugins import Job, PluginContext, Subscriber
from frepo_core.services.base.lease import LeaseTerms
from frepo_core.services.events.masking import Mask
from frepo_core.services.events.recording import NewEvent, record
from frepo_core.services.upkeep.engine.job_catalog import schedule_jobs
from frepo_core.services.upkeep.engine.worker import Worker

CONTEXT = PluginContext(settings=None, service=None, log=logging.getLogger("test"))
MINUTE = 60.0
# The lease is renewed several times while the subscriber is busy.
TERMS = LeaseTerms(length=1.5)


class Slow:
    """Handles its first event for a minute, or until the test has seen enough."""

    def __init__(self):
        self.is_busy, self.release = threading.Event(), threading.Event()
        self.handled = []

    def handle(self, event, context):
        self.is_busy.set()
        self.release.wait(MINUTE)
        self.handled.append(event.id)


@pytest.fixture
def slow():
    return Slow()


@pytest.fixture
def fast():
    return []


@pytest.fixture
def runs():
    return []


@pytest.fixture
def worker(services, slow, fast, runs):
    handlers = {"slow": slow.handle, "fast": lambda event, context: fast.append(event.id)}
    subscribers = {
        name: (Subscriber(name=name, kinds=["*"], handle=handle), CONTEXT) for name, handle in handlers.items()
    }
    tick = Job(name="tick", schedule="every 1s", run=lambda context: runs.append(time.monotonic()))
    jobs = schedule_jobs([(tick, CONTEXT)], {}, "UTC")
    worker = Worker(services.database, jobs=jobs, subscribers=subscribers, mask=Mask(), terms=TERMS)
    worker.start()
    yield worker
    slow.release.set()
    worker.stop()


def happen(services, count):
    event = NewEvent(kind=EventKind.FILE_DELETED, by=None, data={"name": "a"})
    for _ in range(count):
        services.database.write(lambda session: record(session, event))


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.slow
def test_a_subscriber_that_takes_a_minute_delays_nothing_else(services, worker, slow, fast, runs):
    wait_for(lambda: worker.is_leading)
    happen(services, 1)
    assert slow.is_busy.wait(60)
    epoch, busy_since = worker.leadership.epoch, time.monotonic()
    happen(services, 20)

    wait_for(lambda: len(fast) == 21)
    wait_for(lambda: len([at for at in runs if at > busy_since + TERMS.length]) > 1)

    assert [] == slow.handled
    assert epoch == worker.leadership.epoch

    slow.release.set()
    wait_for(lambda: len(slow.handled) == 21)
    assert fast == slow.handled == sorted(slow.handled)
