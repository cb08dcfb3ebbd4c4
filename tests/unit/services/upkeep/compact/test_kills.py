"""The process of the job is killed at each of its steps: the next run completes its work, and nothing is lost."""

from datetime import timedelta

import pytest

from frepo_core.services.upkeep.storage import SweepPlan, sweep
from support.scale import IS_BIG

POINTS = ("content_encoded", "object_stored", "object_read_back", "blob_switched")


@pytest.mark.parametrize("point", POINTS if IS_BIG else ("object_read_back",))
def test_a_killed_run_is_completed_by_the_next(services, history, run_and_die, point):
    collection = history.make()
    for _ in range(4):
        history.push(collection)

    run_and_die(history.job, point)

    history.job()
    assert ["delta"] * 3 + ["raw"] == history.encodings(collection)
    plan = SweepPlan(storage="local", grace=timedelta(), most=1000)
    sweep(services.database, services.backends, services.blobs, plan)
    history.check()
