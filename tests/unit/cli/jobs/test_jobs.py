"""The commands for jobs, for parked events, and the worker as a process of its own."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from io import BytesIO
from pathlib import Path

import pytest
from sqlalchemy import insert

from frepo_core.db import utc_now
from frepo_core.db.models import Event, ParkedEvent
from frepo_core.domain.roles import Role
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.events.subscriptions import create_subscriptions
from frepo_core.services.files.files import NewFile

FREPO = Path(sys.executable).parent / "frepo"


@pytest.fixture
def database_url(console):
    """Return the URL of the console's database."""
    return f"sqlite:///{console.database}"


@pytest.fixture
def parked(services):
    """Park the event 1 of the subscriber `paint`, next to the subscriber `other`; return the parked event's row."""
    create_subscriptions(services.database, ["paint", "other"])
    row = {"subscription": "paint", "event_id": 1, "kind": "file.added", "tries": 12, "error": "RuntimeError: no paint"}
    event = {"id": 1, "position": 1, "at": utc_now(), "kind": "file.added", "actor": "console:root", "data": {}}
    services.database.write(lambda session: session.execute(insert(Event), [event]))
    services.database.write(lambda session: session.execute(insert(ParkedEvent), [row | {"parked_at": utc_now()}]))
    return row


def test_jobs_are_listed_with_their_schedules(console):
    rows = {row["Job"]: row for row in json.loads(console.answer("jobs", "-f", "json", JOBS_VERIFY="off"))}

    assert {"verify", "sweep", "tokens", "events", "database", "samples"} <= rows.keys()
    assert ("off", None, None) == tuple(rows["verify"][name] for name in ("Schedule", "Next", "Last run"))
    assert rows["sweep"]["Next"].endswith("03:45:00+00:00")


def test_a_listing_changes_no_schedule(console):
    console.answer("jobs")

    assert [] == console.rows("SELECT * FROM job")


def test_a_job_is_run_and_its_run_is_listed(console):
    result = json.loads(console.answer("jobs:run", "samples", "-f", "json"))

    assert {"job": "samples", "outcome": "good", "collections": 0}.items() <= result.items()
    (run,) = json.loads(console.answer("jobs", "samples", "-f", "json"))
    assert ("good", 0) == (run["Outcome"], run["Result"]["collections"])
    assert run["Cause"].startswith("console:")
    (row,) = (row for row in json.loads(console.answer("jobs", "-f", "json")) if row["Job"] == "samples")
    assert ("good", run["Started"]) == (row["Outcome"], row["Last run"])


def test_what_waits_and_what_could_not_be_done_are_outcomes_of_their_own(console, tmp_path):
    """Of all commands that show how a job has ended."""
    setting = {"COMPACT": "true", "COMPACT_AFTER": "0s"}
    console.answer("backup:create-collection", "-f", "shop.sql", **setting)
    content = tmp_path / "shop.sql"
    for number in range(3):
        content.write_bytes(random.Random(5).randbytes(100_000) + b"%d" % number)
        console.answer("backup:upload", "shop.sql", str(content), **setting)
    ((key,),) = console.rows("SELECT key FROM object ORDER BY id LIMIT 1")
    stored = next(tmp_path.rglob(key))
    stored.chmod(0o600)
    stored.write_bytes(bytes(stored.stat().st_size))

    waits = console.run("jobs:run", "compact", "-f", "json", **setting)
    failed = console.run("compact", "-f", "json", **setting)

    assert (0, "waiting", 1, "problem") == (
        *(waits.returncode, json.loads(waits.stdout)["outcome"]),
        *(failed.returncode, json.loads(failed.stdout)["outcome"]),
    )
    runs = json.loads(console.answer("jobs", "compact", "-f", "json", **setting))
    (job,) = (row for row in json.loads(console.answer("jobs", "-f", "json", **setting)) if row["Job"] == "compact")
    assert ["problem", "waiting", "problem"] == [*(run["Outcome"] for run in runs), job["Outcome"]]


def test_an_unknown_job_is_refused_with_the_names_of_the_jobs(console):
    assert "There is no job 'nothing'. Jobs: catalogue, compact, database" in console.refusal("jobs:run", "nothing")


def test_a_job_that_fails_exits_with_1_and_says_why(console, services, make_token):
    by = services.tokens.look_up(make_token(Role.ADMINISTRATOR))
    file = services.files.add(NewFile(name="a.bin"), Incoming(stream=BytesIO(bytes(2000))), by=by).file
    services.backends.get("local").path(file.blob.key).unlink()
    console.run("storage:adopt", "--yes")  # it warns that the phrase is stored for the first time
    done = console.run("jobs:run", "sweep", "-f", "json")

    result = json.loads(done.stdout)
    assert (1, "failed") == (done.returncode, result["outcome"])
    assert file.blob.key in result["error"]


def test_a_job_waits_for_another_of_its_lane(console, services):
    from frepo_core.services.base.lease import Lease, LeaseTerms
    from frepo_core.services.upkeep.engine.job_runs import begin_run
    from frepo_core.services.upkeep.engine.lane import lease_name

    lease = Lease(services.database, lease_name("short"), holder="other", terms=LeaseTerms())
    assert lease.try_acquire()
    begin_run(services.database, "tokens", "short", lease, cause="schedule", now=services.database.now())

    message = console.refusal("jobs:run", "samples", "--wait", "0")
    assert "The job 'tokens' runs since" in message

    lease.release()
    assert "good" in console.answer("jobs:run", "samples")


def test_a_wrong_schedule_is_refused_with_the_names_of_its_setting(console):
    for text in ["nightly", "* * * *"]:
        message = console.refusal("jobs", JOBS_VERIFY=text)

        assert f"Setting jobs.verify (JOBS_VERIFY): {text!r} is not a schedule" in message
        assert ": write cron such as" in message


def test_parked_events_are_listed_and_tried_again_on_request(console, parked):
    (row,) = json.loads(console.answer("events:parked", "-f", "json"))
    assert (1, "paint", 12, "RuntimeError: no paint", None) == tuple(
        row[name] for name in ("Event", "Subscriber", "Tries", "Error", "Retry requested")
    )

    assert {"requested": 1} == json.loads(console.answer("events:retry", "1", "-f", "json"))
    (row,) = json.loads(console.answer("events:parked", "--subscriber", "paint", "-f", "json"))
    assert row["Retry requested"]
    assert [] == json.loads(console.answer("events:parked", "--subscriber", "other", "-f", "json"))


def test_a_retry_names_parked_events_or_all(console, parked):
    for arguments, expected in [
        ([], "name events by their numbers, or write --all"),
        (["1", "--all"], "name events by their numbers, or write --all"),
        (["7"], "No parked event has the number 7"),
        (["1", "--subscriber", "other"], "No parked event has the number 1"),
    ]:
        assert expected in console.refusal("events:retry", *arguments), arguments


@pytest.mark.costly
def test_the_worker_runs_jobs_until_sigterm(console):
    variables = console.environment | {"JOBS_SAMPLES": "every 1s", "WORKER_IN_PROCESS": "false"}
    with (console.folder / "worker.log").open("w") as log:
        process = subprocess.Popen([FREPO, "worker"], env=variables, cwd=console.folder, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 60
        query = "SELECT outcome FROM job_run WHERE name = 'samples' AND outcome IS NOT NULL"
        while not (console.database.exists() and _has_table(console) and console.rows(query)):
            assert time.monotonic() < deadline, (console.folder / "worker.log").read_text()
            time.sleep(0.1)
        os.kill(process.pid, signal.SIGTERM)
        assert 0 == process.wait(30)
    finally:
        process.kill()
        process.wait()
    assert {("good",)} == set(console.rows(query))
    assert [(None,)] == console.rows("SELECT holder FROM lease WHERE name = 'worker'")


def _has_table(console):
    return console.rows("SELECT 1 FROM sqlite_master WHERE name = 'job_run'")


def test_a_read_only_worker_does_not_start(console):
    console.answer("jobs")

    assert "read_only = true" in console.refusal("worker", READ_ONLY="true")
