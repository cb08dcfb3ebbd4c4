"""Jobs in /api/v1: their schedules and runs, and a run on request."""

from dataclasses import replace
from datetime import timedelta

import pytest

from frepo_core.db import utc_now
from frepo_core.db.models import JobRun
from frepo_core.domain.roles import Role
from frepo_core.services.base.lease import Lease, LeaseTerms
from frepo_core.services.events.masking import Mask
from frepo_core.services.upkeep.engine.job_runner import JobRunner
from frepo_core.services.upkeep.engine.lane import Lane, lease_name

JOBS = "/api/v1/jobs"


@pytest.fixture
def lead(services):
    """Do what the worker that leads does next in the lane of `samples`."""
    lease = Lease(services.database, lease_name("short"), holder="leader", terms=LeaseTerms())
    runner = JobRunner(services.database, Mask(services.settings))
    return lambda: Lane(services.database, "short", services.jobs.scheduled, lease=lease, runner=runner).step(1)


def job(client, name):
    return next(item for item in client.get(JOBS).json["items"] if item["name"] == name)


def test_jobs_are_listed_with_their_schedules(root):
    samples = job(root, "samples")

    assert ("5 0 * * *", "short", None, None) == tuple(
        samples[name] for name in ("schedule", "lane", "request", "last_run")
    )
    assert samples["next_at"].endswith("T00:05:00Z")
    assert job(root, "restore_tests")["next_at"] is None


def test_a_requested_run_is_begun_by_the_worker_that_leads(root, services, admin, lead):
    answer = root.call("POST", f"{JOBS}/samples/runs")

    fingerprint = services.tokens.fingerprint(admin)
    assert (202, "samples", fingerprint) == (answer.status_int, answer.json["job"], answer.json["requested_by"])
    assert answer.json == job(root, "samples")["request"]
    assert [] == root.get(f"{JOBS}/samples/runs").json["items"]

    lead()

    (run,) = root.get(f"{JOBS}/samples/runs").json["items"]
    assert ("good", fingerprint, "leader") == (run["outcome"], run["cause"], run["process"])
    assert (run, None) == (job(root, "samples")["last_run"], job(root, "samples")["request"])


def test_secrets_in_what_a_job_reports_are_masked(root, services, lead, monkeypatch):
    secret = services.settings.app_secret.get_secret_value()

    def run(context):
        context.progress(f"signs with {secret}")
        url = "https://user:hunter2@example.org/a"
        return {
            "note": f"signed with {secret}",
            "read": [{"from": url}],
            "Password": "hunter2",
            secret: 1,
            "checked": 5,
        }

    samples = services.jobs.scheduled["samples"]
    monkeypatch.setitem(services.jobs.scheduled, "samples", replace(samples, job=replace(samples.job, run=run)))
    root.call("POST", f"{JOBS}/samples/runs")
    lead()

    answer = root.get(f"{JOBS}/samples/runs")
    (found,) = answer.json["items"]

    assert found["summary"] == {
        "note": "signed with ***",
        "read": [{"from": "https://***@example.org/a"}],
        "Password": "***",
        "***": 1,
        "checked": 5,
    }
    assert found["progress"] == "signs with ***"
    assert [] == [word for word in (secret, "hunter2") if word in answer.text]


def test_two_requests_are_one_run(root, lead):
    first, second = (root.call("POST", f"{JOBS}/samples/runs").json for _ in range(2))
    lead()
    lead()

    assert first == second
    assert 1 == len(root.get(f"{JOBS}/samples/runs").json["items"])


def test_a_request_does_not_change_the_schedule(root, lead):
    lead()
    before = job(root, "samples")["next_at"]
    root.call("POST", f"{JOBS}/samples/runs")
    lead()

    assert before == job(root, "samples")["next_at"]


@pytest.mark.databases
def test_runs_are_listed_in_pages(root, services):
    now = utc_now()
    rows = [
        JobRun(name=name, lane="long", epoch=1, holder="h", cause="schedule", started_at=now - timedelta(hours=number))
        for number in range(5)
        for name in ("verify", "sweep")
    ]
    services.database.write(lambda session: session.add_all(rows))
    everything = [item["started_at"] for item in root.get(f"{JOBS}/verify/runs").json["items"]]
    found, cursor = [], ""
    while cursor is not None:
        page = root.get(f"{JOBS}/verify/runs?limit=2&cursor={cursor}").json
        found += [item["started_at"] for item in page["items"]]
        cursor = page["next"]

    assert 5 == len(everything)
    assert everything == found == sorted(found, reverse=True)


def test_an_unknown_job_is_not_found(root):
    assert [404, 404] == [root.call(method, f"{JOBS}/nothing/runs").status_int for method in ("GET", "POST")]


def test_the_output_of_jobs_is_for_those_who_see_all_collections(services, root, holder):
    summary = {"collection": "hidden-5", "examples": ["hidden-5"], "seconds": 1.5, "checked": 3, "good": True}
    texts = {"progress": "reads hidden-5", "error": "hidden-5 is broken", "summary": summary}
    row = JobRun(name="verify", lane="long", epoch=1, holder="h", cause="schedule", started_at=utc_now(), **texts)
    services.database.write(lambda session: session.add(row))
    paths = (JOBS, f"{JOBS}/verify/runs")
    viewer, everything = holder(Role.VIEW_JOBS), holder(Role.VIEW_JOBS, Role.VIEW_ALL_COLLECTIONS)

    assert [True, True] == ["hidden-5" in everything.get(path).text for path in paths]
    assert [False, False] == ["hidden-5" in viewer.get(path).text for path in paths]
    assert {"seconds": 1.5, "checked": 3, "good": True} == job(viewer, "verify")["last_run"]["summary"]
