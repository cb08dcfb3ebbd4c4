"""The runs of a backup job that clients have reported, on the console."""

import json

import pytest


@pytest.fixture
def collection(console):
    """A collection with three runs, whose last one failed."""
    collection = console.answer("backup:create-collection", "-f", "db.sql")
    columns = "(incarnation, at, outcome, reason, exit_statuses, error_output, host, client, actor, version_number)"
    for day, outcome, number in (("01", "ok", "7"), ("02", "skipped", "NULL"), ("03", "failed", "NULL")):
        values = f"'2026-05-{day}', '{outcome}', 'why', '[1, 0]', 'one\nwhy', 'db7', 'curl', '5c1e9a7740d2', {number}"
        console.change(f"INSERT INTO run {columns} SELECT incarnation, {values} FROM collection")
    last = "last_run_at = '2026-05-03', last_run_outcome = 'failed', last_run_reason = 'why'"
    console.change(f"UPDATE collection SET {last}")
    return collection


def test_runs_are_listed_the_newest_first(console, collection):
    def listed(*options):
        return json.loads(console.answer("backup:runs", collection, *options, "-f", "json"))

    assert ["failed", "skipped", "ok"] == [run["Outcome"] for run in listed()]
    assert [(None, "1 0", "one\nwhy"), ("v7", "1 0", "one\nwhy")] == [
        (run["Version"], run["Exit statuses"], run["Output"])
        for run in listed("--outcome", "failed", "--outcome", "ok")
    ]
    assert ["failed"] == [run["Outcome"] for run in listed("--limit", "1")]
