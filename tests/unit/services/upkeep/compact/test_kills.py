"""The process of the job is killed at each of its steps: the next run completes its work, and nothing is lost."""

import os
import signal
from datetime import timedelta

import pytest

from frepo_core.services.content.blobs import failpoints
from frepo_core.services.upkeep.storage import SweepPlan, sweep
from support.scale import IS_BIG

POINTS = ("content_encoded", "object_stored", "object_read_back", "blob_switched")


@pytest.fixture
def run_and_die(services, history):
    """Run the job in a process that is killed at a point."""

    def run_and_die(point):
        child = os.fork()
        if not child:
            try:
                services.database.engine.dispose(close=False)
                failpoints._armed = point
                history.job()
            finally:
                os._exit(1)
        return os.waitpid(child, 0)[1]

    return run_and_die


@pytest.mark.parametrize("point", POINTS if IS_BIG else ("object_read_back",))
def test_a_killed_run_is_completed_by_the_next(services, history, run_and_die, point):
    collection = history.make()
    for _ in range(4):
        history.push(collection)

    status = run_and_die(point)

    assert signal.SIGKILL == os.WTERMSIG(status)
    history.job()
    assert ["delta"] * 3 + ["raw"] == history.encodings(collection)
    plan = SweepPlan(storage="local", grace=timedelta(), most=1000)
    sweep(services.database, services.backends, services.blobs, plan)
    history.check()
