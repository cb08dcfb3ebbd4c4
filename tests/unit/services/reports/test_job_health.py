"""What `/health` says about the worker and its jobs."""

from datetime import timedelta

import pytest
from sqlalchemy import insert

from frepo_core.db import utc_now
from frepo_core.db.models import JobRun, JobState, Lease
from frepo_core.services.base.lease import LEADER
from frepo_core.services.reports.health import core_checks

CODE = "a-code"


@pytest.fixture
def ini(ini):
    return ini | {"health_check.code": CODE}


@pytest.fixture
def put(services):
    """Insert a row; times are given in minutes from now."""

    def put(model, **values):
        now = utc_now()
        at = {name for name in values if name.endswith(("_at", "since"))}
        row = {name: now + timedelta(minutes=value) if name in at else value for name, value in values.items()}
        services.database.write(lambda session: session.execute(insert(model), [row]))

    return put


@pytest.fixture
def old(monkeypatch):
    """The process runs for longer than a worker needs to begin."""
    monkeypatch.setattr(core_checks, "LEADERLESS", timedelta(seconds=-1))


@pytest.fixture
def leads(put):
    put(Lease, name=LEADER, holder="a", epoch=1, renewals=3, expires_at=0.4)


@pytest.fixture
def report(services):
    return lambda: services.health.report(CODE)


def run(name="sweep", ended=True, **values):
    """Return the row of a run that took a minute."""
    row = {"name": name, "lane": "long", "epoch": 1, "holder": "a", "cause": "schedule", "started_at": -10}
    return row | ({"ended_at": -9, "outcome": "good"} if ended else {}) | values


def state(name="sweep", **values):
    return {"name": name, "schedule": "45 3 * * *", "next_at": 60} | values


@pytest.mark.usefixtures("old")
@pytest.mark.parametrize(
    ("expired", "expected"), [(None, "none ever has"), (-2, "No worker leads, since "), (-0.8, None), (0.4, None)]
)
def test_a_service_that_no_worker_leads_is_ill(put, report, expired, expected):
    if expired is not None:
        put(Lease, name=LEADER, holder="a", epoch=1, renewals=3, expires_at=expired)

    found = report()

    assert (expected is None) == found.is_healthy
    assert (expected or "") in "".join(found.worker)


def test_a_service_that_has_just_started_needs_no_worker_yet(report):
    assert report().is_healthy


@pytest.mark.usefixtures("old", "leads")
@pytest.mark.parametrize(("name", "is_ill"), [("sweep", True), ("verify", True), ("samples", False), ("acme", False)])
def test_a_failed_sweep_or_verify_is_an_illness_and_another_job_is_not(put, report, name, is_ill):
    put(JobState, **state(name, failing_since=-10))
    put(JobRun, **run(name, outcome="failed", error="The sweep would delete 5 of 6 blobs"))

    found = report()

    assert is_ill == (not found.is_healthy)
    assert is_ill == ("would delete 5 of 6 blobs" in "".join(found.jobs))
    assert "The sweep would delete 5 of 6 blobs" == found.reports[0].error


@pytest.mark.usefixtures("old", "leads")
def test_a_failed_job_that_runs_again_is_still_ill(put, report):
    put(JobState, **state(failing_since=-10))
    put(JobRun, **run(outcome="failed", error="broken"))
    put(JobRun, **run(ended=False, started_at=-1))

    assert "broken" in "".join(report().jobs)


@pytest.mark.usefixtures("old", "leads")
@pytest.mark.parametrize(
    ("next_at", "busy", "expected"), [(-50, False, True), (-90, False, False), (-90, True, True), (30, False, True)]
)
def test_a_job_that_is_overdue_is_an_illness_unless_another_long_one_runs(put, report, next_at, busy, expected):
    put(JobState, **state(next_at=next_at))
    if busy:
        put(JobRun, **run("verify", ended=False))

    found = report()

    assert expected == found.is_healthy
    assert expected == ("was due at" not in "".join(found.jobs))


@pytest.mark.usefixtures("old", "leads")
def test_a_job_that_is_off_is_not_overdue(put, report):
    put(JobState, name="sweep", schedule="off")

    assert report().is_healthy


class TestReadOnly:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"read_only": "true"}

    @pytest.mark.usefixtures("old")
    def test_a_read_only_service_needs_no_worker(self, put, report):
        put(JobState, **state(next_at=-90))

        assert report().is_healthy
