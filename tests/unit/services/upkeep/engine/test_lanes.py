"""Jobs are run when they are due: once for each turn, one at a time, whatever the clock does."""

import logging
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from sqlalchemy import select

from frepo_core.db.models import Event
from frepo_core.plugins import Job, LeaseLost, PluginContext, hang_watch
from frepo_core.services.events.masking import Mask
from frepo_core.services.upkeep.engine.job_catalog import schedule_jobs
from frepo_core.services.upkeep.engine.job_runner import JobRunner
from frepo_core.services.upkeep.engine.job_runs import LOST, begin_run, list_runs
from frepo_core.services.upkeep.engine.lane import Lane, lease_name
from support.logs.waiting import wait_for_text

CONTEXT = PluginContext(settings=None, service=None, log=logging.getLogger("test"))


class Nightly:
    """A job at 02:15 UTC that records when it ran."""

    def __init__(self, clock, name="nightly"):
        self.clock, self.name = clock, name
        self.times = []
        self.error = None
        self.during = lambda context: None

    def run(self, context):
        self.times.append(self.clock.time)
        self.during(context)
        if self.error:
            raise self.error
        return {"checked": len(self.times)}


@pytest.fixture(autouse=True)
def fewer_polls(monkeypatch):
    """Simulated days are long; a lane looks every half hour for what the clock did."""
    monkeypatch.setattr("frepo_core.services.upkeep.engine.lane.POLL_SECONDS", 1800.0)


@pytest.fixture
def nightly(clock):
    return Nightly(clock)


@pytest.fixture
def make_lane(services, make_lease):
    """Make the lane `short` as one process has it; the schedules are by job."""

    def make(holder, jobs, schedules=None, is_stopping=lambda: False, zone="UTC"):
        specs = [(Job(name=job.name, schedule="15 2 * * *", run=job.run), CONTEXT) for job in jobs]
        return Lane(
            services.database,
            "short",
            schedule_jobs(specs, schedules or {}, zone),
            lease=make_lease(holder, lease_name("short")),
            runner=JobRunner(services.database, Mask(services.settings), is_stopping),
        )

    return make


@pytest.fixture
def lane(make_lane, nightly):
    lane = make_lane("first", [nightly])
    lane.step(1)
    return lane


def work(lane, clock, **duration):
    """Call the lane as its thread does, for this time."""
    end = clock.time + timedelta(**duration)
    while (pause := lane.step(1)) is not None and clock.time < end:
        clock.wait(max(pause, 0.001))


def runs(services, name="nightly"):
    return list(reversed(list_runs(services.database, name, 100)))


def kinds(services):
    with services.database.reading() as session:
        return list(session.scalars(select(Event.kind).order_by(Event.id)))


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.costly
@pytest.mark.databases
def test_a_job_runs_at_its_time_and_its_summary_is_kept(services, lane, nightly, clock):
    work(lane, clock, days=2)

    assert [at("2026-03-02 02:15"), at("2026-03-03 02:15")] == [each.replace(microsecond=0) for each in nightly.times]
    first, second = runs(services)
    assert ("good", {"checked": 1}, "schedule") == (first.outcome, first.summary, first.cause)
    assert ("good", {"checked": 2}) == (second.outcome, second.summary)


def test_a_job_that_hangs_is_named(lane, nightly, clock, caplog, monkeypatch):
    monkeypatch.setattr(hang_watch, "SECONDS", 0.05)
    nightly.during = lambda context: wait_for_text(caplog, "the job nightly does not return")

    work(lane, clock, days=1)

    assert "the job nightly ended after 0 seconds" in caplog.text


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        ([3], "run() returned [3], which is neither a mapping nor None"),
        ({"a": {3}}, "run() returned {'a': {3}}, which cannot be stored as JSON"),
    ],
)
def test_a_job_that_returns_something_else_than_a_summary_failed(services, make_lane, clock, caplog, returned, told):
    work(make_lane("first", [SimpleNamespace(name="odd", run=lambda context: returned)]), clock, days=1)

    (run,) = runs(services, "odd")
    assert ("failed", True) == (run.outcome, told in run.error)
    assert told in caplog.text


def test_turns_that_were_missed_while_nobody_ran_are_one_run(services, lane, nightly, clock, make_lane):
    clock.wait(10 * 86400)
    work(make_lane("second", [nightly]), clock, hours=1)

    assert 1 == len(nightly.times)


def test_an_interval_begins_at_the_start_of_the_last_run(make_lane, nightly, clock):
    nightly.during = lambda context: clock.wait(600)
    lane = make_lane("first", [nightly], {"nightly": "every 1h"})
    start = clock.time
    work(lane, clock, hours=3, minutes=30)

    assert [1, 2, 3] == [round((each - start) / timedelta(hours=1)) for each in nightly.times]


def test_a_new_schedule_replaces_the_old_one(services, lane, nightly, clock, make_lane):
    changed = make_lane("second", [nightly], {"nightly": "0 13 * * *"})
    work(changed, clock, hours=2)

    assert [13] == [each.hour for each in nightly.times]


@pytest.mark.parametrize(
    "jump", [timedelta(minutes=-30), timedelta(hours=-3), timedelta(hours=-20)], ids=["30m", "3h", "20h"]
)
def test_a_clock_that_is_set_back_runs_no_turn_twice(lane, nightly, clock, jump):
    work(lane, clock, hours=15)
    assert 1 == len(nightly.times)
    clock.time += jump
    work(lane, clock, hours=20)

    assert 1 == len(nightly.times)


@pytest.mark.costly
def test_a_clock_that_was_fast_by_a_year_neither_repeats_a_turn_nor_stops_the_job(lane, nightly, clock):
    clock.jump(days=365)
    work(lane, clock, hours=1)
    assert 1 == len(nightly.times)
    clock.jump(days=-365)
    work(lane, clock, hours=12)
    assert 1 == len(nightly.times)
    work(lane, clock, days=3)

    assert 3 <= len(nightly.times) <= 4


def test_a_clock_that_jumps_forward_and_back_between_polls_runs_at_most_once(lane, nightly, clock):
    for _ in range(5):
        clock.jump(hours=20)
        lane.step(1)
        clock.jump(hours=-20)
        lane.step(1)

    assert 1 == len(nightly.times)


@pytest.mark.costly
def test_two_processes_never_run_a_turn_twice_nor_two_jobs_at_once(services, make_lane, nightly, clock):
    running = []
    other = Nightly(clock, "other")
    second = make_lane("second", [nightly, other])

    def during(context):
        running.append(1)
        assert 1 == len(running)
        second.step(1)
        running.pop()

    nightly.during = other.during = during
    first = make_lane("first", [nightly, other])
    work(first, clock, days=3)

    assert (3, 3) == (len(nightly.times), len(other.times))


@pytest.mark.costly
def test_a_job_that_fails_is_recorded_reported_once_a_day_and_run_again(services, make_lane, nightly, clock):
    lane = make_lane("first", [nightly], {"nightly": "every 1h"})
    nightly.error = RuntimeError("password=hunter2 is wrong")
    work(lane, clock, hours=26, minutes=30)

    assert 26 == len(nightly.times)
    assert {("failed", "RuntimeError: password=*** is wrong")} == {(run.outcome, run.error) for run in runs(services)}
    assert ["job.failed", "job.failed"] == kinds(services)

    nightly.error = None
    work(lane, clock, hours=2)

    assert ["job.failed", "job.failed", "job.recovered"] == kinds(services)


@pytest.mark.parametrize("error", [SystemExit(1), GeneratorExit()])
def test_an_exception_that_would_end_a_program_is_a_failure(services, lane, nightly, clock, error):
    nightly.error = error
    work(lane, clock, days=1)

    assert ["failed"] == [run.outcome for run in runs(services)]


@pytest.mark.databases
def test_a_lost_run_is_recorded_and_reported_by_the_next_leader(services, make_lane, make_lease, nightly, clock):
    dead = make_lease("dead", lease_name("short"))
    assert dead.try_acquire()
    begin_run(services.database, "nightly", "short", dead, cause="schedule", now=clock.time)
    work(make_lane("second", [nightly]), clock, minutes=2)

    (run,) = runs(services)
    assert ("lost", LOST) == (run.outcome, run.error)
    assert ["job.failed"] == kinds(services)


def test_a_job_whose_lane_another_process_has_taken_must_stop(services, lane, nightly, clock, make_lease):
    thief = make_lease("thief", lease_name("short"))
    told = []

    def during(context):
        context.check_lease()
        for _ in range(8):
            thief.try_acquire()
            clock.wait(5)
        try:
            context.check_lease()
        except LeaseLost as error:
            told.append(str(error))
            raise

    nightly.during = during
    work(lane, clock, hours=15)

    assert ["the lease lane:short was not renewed in time"] == told
    assert ["lost"] == [run.outcome for run in runs(services)]


def test_a_run_that_the_stop_of_the_process_interrupts_is_repeated(services, make_lane, nightly, clock):
    stopping = []
    nightly.during = lambda context: (stopping.append(1), context.check_lease())
    first = make_lane("first", [nightly], is_stopping=lambda: bool(stopping))
    first.step(1)
    clock.wait(15 * 3600)
    first.step(1)
    assert ["interrupted"] == [run.outcome for run in runs(services)]

    stopping.clear()
    nightly.during = lambda context: None
    work(make_lane("second", [nightly]), clock, minutes=1)

    assert "good" == runs(services)[-1].outcome
    assert [] == kinds(services)


def test_progress_is_shown_while_a_job_runs(services, lane, nightly, clock):
    seen = []
    nightly.during = lambda context: (context.progress("3 of 7"), seen.append(runs(services)[-1]))
    work(lane, clock, hours=15)

    assert [("3 of 7", None, None)] == [(run.progress, run.outcome, run.ended_at) for run in seen]


def test_a_failure_is_logged_by_the_logger_of_the_plugin(lane, nightly, clock, caplog):
    nightly.error = ValueError("no disk")

    work(lane, clock, days=1)

    assert {"test"} == {record.name for record in caplog.records if "no disk" in record.getMessage()}
    assert "the job nightly ended as failed: ValueError: no disk" in caplog.messages
