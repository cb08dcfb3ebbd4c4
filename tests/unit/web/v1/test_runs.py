"""Runs of backup jobs that clients report: what is kept of them, and what they can do to their collection."""

import pytest
from sqlalchemy import select

from frepo_core.db.models import Collection, Event
from frepo_core.domain.roles import Role
from frepo_core.services.backups.runs import run_reports

FAILED = {
    "outcome": "failed",
    "started_at": "2026-11-26T04:00:00+02:00",
    "seconds": 12.4,
    "exit_statuses": [1, 0],
    "error_output": "pg_dump: connecting\npg_dump: error: the server is gone\n",
    "host": "db1.example.org",
    "client": "curl",
}


@pytest.fixture
def path(collection):
    return f"/api/v1/collections/{collection}/runs"


@pytest.fixture
def sender(member):
    """The token of a cron job."""
    return member(Role.UPLOAD_VERSIONS, Role.LIST_VERSIONS)


@pytest.fixture
def events(services):
    """The kinds and the data of the events about runs."""

    def events():
        with services.database.reading() as session:
            found = session.scalars(select(Event).where(Event.kind.like("run.%")).order_by(Event.id))
            return [(event.kind, event.data) for event in found]

    return events


@pytest.fixture
def failed(services, collection):
    """Since when and why the collection is failed."""

    def failed():
        with services.database.reading() as session:
            row = session.get_one(Collection, collection)
            return row.failed_since, row.failed_reason

    return failed


@pytest.mark.databases
def test_the_output_of_a_run_may_have_every_character(sender, path):
    output = "pg_dump: błąd: 数据库 🐘 ничего\n"

    answer = sender.post(path, FAILED | {"error_output": output, "host": "łódź"})

    assert (201, output) == (answer.status_int, sender.get(path).json["items"][0]["error_output"])


def test_a_run_is_answered_and_listed_as_it_was_reported(sender, path):
    answer = sender.post(path, FAILED)

    assert 201 == answer.status_int
    assert answer.headers["Location"].endswith(path)
    run = answer.json
    assert FAILED | {"started_at": "2026-11-26T02:00:00Z", "seconds": 12} == {name: run[name] for name in FAILED}
    assert ("pg_dump: error: the server is gone", None, None) == (run["reason"], run["version"], run["sha256"])
    assert [run] == sender.get(path).json["items"]


@pytest.mark.databases
def test_runs_are_listed_in_pages_the_newest_first_and_by_outcome(sender, path):
    ids = {outcome: [sender.post(path, {"outcome": outcome}).json["id"] for _ in "ab"] for outcome in ("ok", "failed")}

    first = sender.get(path, {"limit": 3}).json
    second = sender.get(path, {"limit": 3, "cursor": first["next"]}).json

    assert [*ids["failed"][::-1], ids["ok"][1]] == [run["id"] for run in first["items"]]
    assert ([ids["ok"][0]], None) == ([run["id"] for run in second["items"]], second["next"])
    assert ids["ok"][::-1] == [run["id"] for run in sender.get(path, {"outcome": "ok"}).json["items"]]


@pytest.mark.databases
def test_the_end_of_the_output_is_kept_without_control_characters(sender, path):
    output = "x" * 20_000 + "\x00\x1b[31mred\x1b[0m\x9b\u202e\r\n50 %\r100 %\n" + "ä" * 4000

    kept = sender.post(path, FAILED | {"error_output": output}).json["error_output"]

    assert 8192 == len(kept.encode())
    assert kept.endswith("xxxred\n50 %\n100 %\n" + "ä" * 4000)
    odd = sender.post(path, FAILED | {"error_output": "a" + "ä" * 4096}).json["error_output"]
    assert "ä" * 4096 == odd


def test_passwords_in_the_output_are_masked(sender, path):
    output = "could not connect to postgresql://shop:hunter2@db1/shop"

    run = sender.post(path, FAILED | {"error_output": output}).json

    masked = "could not connect to postgresql://***@db1/shop"
    assert (masked, masked) == (run["error_output"], run["reason"])


def test_the_reason_is_the_last_line_or_the_exit_statuses(sender, path):
    for more, reason in [
        ({"error_output": "one\n  two  \n\n"}, "two"),
        ({"error_output": "pg_dump: error: no socket\n\tIs the server running?\n"}, "pg_dump: error: no socket"),
        ({"error_output": "x" * 500}, "x" * 199 + "…"),
        ({"error_output": " \n"}, "Exit statuses: 1, 0"),
        ({"error_output": "", "exit_statuses": [137, 141, 0]}, "Exit statuses: 137 (SIGKILL), 141 (SIGPIPE), 0"),
        ({"error_output": "", "exit_statuses": [128, 255]}, "Exit statuses: 128, 255"),
        ({"error_output": "", "exit_statuses": []}, "The run failed"),
        ({"error_output": "", "outcome": "skipped"}, "No reason was given"),
        ({"error_output": "", "outcome": "ok", "exit_statuses": [0]}, ""),
    ]:
        assert reason == sender.post(path, FAILED | more).json["reason"], reason


def test_a_run_that_is_malformed_is_refused_with_all_wrong_fields(sender, path):
    wrong = {"outcome": "fine", "seconds": -1, "exit_statuses": ["0"], "host": "a\nb", "version": 0, "sha256": "ab"}

    answer = sender.post(path, wrong)

    assert 400 == answer.status_int
    assert {*wrong} - {"exit_statuses"} | {"exit_statuses.0"} == {each["field"] for each in answer.json["errors"]}
    assert [] == sender.get(path).json["items"]


@pytest.mark.databases
def test_a_clock_that_was_never_set_does_not_hide_a_failure(sender, path):
    for started_at in ("0001-01-01T00:00:00Z", "1970-01-01T00:00:05Z", "9999-12-31T23:59:59Z"):
        assert 201 == sender.post(path, FAILED | {"started_at": started_at}).status_int, started_at


def test_a_failed_run_makes_the_collection_failed_for_its_reason(sender, path, failed):
    assert (None, None) == failed()
    sender.post(path, {"outcome": "ok"})
    sender.post(path, {"outcome": "skipped"})
    assert (None, None) == failed()

    sender.post(path, FAILED)
    assert "pg_dump: error: the server is gone" == failed()[1]
    sender.post(path, FAILED | {"error_output": "still gone"})
    assert "still gone" == failed()[1]


def test_a_collection_shows_its_last_run(root, sender, path, collection):
    def last_run():
        (listed,) = root.get("/api/v1/collections").json["items"]
        shown = root.get(f"/api/v1/collections/{collection}").json
        assert shown["last_run"] == listed["last_run"]
        return shown["last_run"]

    assert last_run() is None
    at = sender.post(path, FAILED).json["at"]
    assert {"outcome": "failed", "at": at, "reason": "pg_dump: error: the server is gone"} == last_run()
    sender.post(path, {"outcome": "ok"})

    assert ("ok", "") == (last_run()["outcome"], last_run()["reason"])


def test_only_failed_and_skipped_runs_are_events_one_a_minute_for_each_token(sender, member, path, events):
    sender.post(path, {"outcome": "ok", "exit_statuses": [0]})
    assert [] == events()

    for outcome in ("failed", "failed", "skipped"):
        sender.post(path, FAILED | {"outcome": outcome})
    member(Role.UPLOAD_VERSIONS).post(path, {"outcome": "skipped", "error_output": "no tape"})

    (failed, data), skipped = events()
    assert "run.failed" == failed
    assert {
        "reason": "pg_dump: error: the server is gone",
        "exit_statuses": [1, 0],
        "seconds": 12,
    }.items() <= data.items()
    assert "run.reported" == skipped[0]
    assert "no tape" == skipped[1]["reason"]


@pytest.mark.databases
def test_the_newest_runs_of_each_collection_are_kept(monkeypatch, root, sender, path, make_collection):
    monkeypatch.setattr(run_reports, "MAX_RUNS", 3)
    other = f"/api/v1/collections/{make_collection()}/runs"
    root.post(other, {"outcome": "ok"})

    ids = [sender.post(path, {"outcome": "ok"}).json["id"] for _ in range(5)]

    assert ids[:1:-1] == [run["id"] for run in sender.get(path).json["items"]]
    assert 1 == len(root.get(other).json["items"])


def test_a_collection_that_takes_the_id_of_a_deleted_one_has_none_of_its_runs(root, make_collection):
    chosen = "0e1f4b9e-52f5-4a8e-9c52-3e7ff0dbb001"
    path = f"/api/v1/collections/{chosen}"
    root.post("/api/v1/collections", {"name": "a.sql", "id": chosen})
    root.post(f"{path}/runs", {"outcome": "ok"})
    root.delete(path)

    restored = root.post(f"/api/v1/deleted-collections/{chosen}/restore", None)
    assert (201, 1) == (restored.status_int, len(root.get(f"{path}/runs").json["items"]))
    root.delete(path)
    root.post("/api/v1/collections", {"name": "b.sql", "id": chosen})

    assert [] == root.get(f"{path}/runs").json["items"]
