"""The process of the job is killed at each of its steps: the next run completes its work, and nothing is lost."""

import os
from datetime import UTC, datetime, timedelta

import pytest

from frepo_core.db.types import simulated_time
from frepo_core.features.compact import encoding_switch
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


def test_a_process_that_sleeps_until_a_sweep_has_deleted_its_object_changes_nothing(services, history, monkeypatch):
    """As when the machine of the worker is suspended for a day: without a row, the object looks like an orphan."""
    collection = history.make()
    for _ in range(3):
        history.push(collection)
    plan, hit = SweepPlan(storage="local", grace=timedelta(), most=1000), encoding_switch.hit

    def sleep_at(point):
        hit(point)
        if point == "object_read_back":  # the objects have the time of the machine of the tests
            with simulated_time(datetime.now(UTC) + timedelta(days=1)):
                sweep(services.database, services.backends, services.blobs, plan)

    with monkeypatch.context() as patched:
        patched.setattr(encoding_switch, "hit", sleep_at)
        assert 2 == history.job()["failed"]
    assert ["raw"] * 3 == history.encodings(collection)
    history.check()

    assert 2 == history.job()["encoded"]
    history.check()


def test_the_files_of_a_killed_run_are_deleted_by_the_next(history, run_and_die, tmp_path):
    collection, folder = history.make(), tmp_path / "temporary"
    history.push(collection)
    history.push(collection)

    run_and_die(history.job, "content_encoded")
    left = list(folder.glob("frepo-compact-*"))
    for one in left:
        os.utime(one, (0, 0))  # it was killed long ago
    history.job()

    assert 1 == len(left)
    assert [] == list(folder.glob("frepo-compact-*"))
    history.check()
