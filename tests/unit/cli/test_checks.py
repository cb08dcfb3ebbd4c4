"""`frepo backup:checks`: what the checks of versions found."""

import contextlib
import json
import sqlite3

import pytest

ID = "1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb001"


@pytest.fixture
def collection(console):
    """A collection of two versions, the first of which is broken."""
    console.answer("backup:create-collection", "-f", "db.sql.gz", "--id", ID)
    with contextlib.closing(sqlite3.connect(console.database)) as database, database:
        for number, outcome in ((1, "broken"), (2, "good")):
            at = "2026-11-23 02:00:00.000000"
            digest, version = f"{number}" * 64, f"1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb00{number}"
            blob = (number, digest, 10, "local", f"{digest[:2]}/{digest}", "application/gzip", at)
            database.execute(
                "INSERT INTO blob (id, digest, size, storage, key, mime, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)", blob
            )
            file = (number, f"db-v{number}.sql.gz", "db.sql.gz", number, 0, at, "version")
            database.execute(
                "INSERT INTO file (id, stored_name, requested_name, blob_id, public, created_at, kind)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                file,
            )
            row = (version, ID, number, number, at)
            database.execute(
                "INSERT INTO version (id, collection_id, number, file_id, created_at) VALUES (?, ?, ?, ?, ?)", row
            )
            check = (version, "integrity", outcome, "It is cut", '{"kinds": ["gzip"]}', at, "system:integrity_deep")
            database.execute("INSERT INTO version_check VALUES (?, ?, ?, ?, ?, ?, ?)", check)
    return ID


def test_all_results_are_listed(console, collection):
    rows = json.loads(console.answer("backup:checks", collection, "-f", "json"))

    assert [("v1", "broken"), ("v2", "good")] == [(row["Version"], row["Outcome"]) for row in rows]
    assert {
        "Version": "v1",
        "Check": "integrity",
        "Outcome": "broken",
        "Message": "It is cut",
        "At": "2026-11-23T02:00:00+00:00",
        "By": "system:integrity_deep",
        "Details": {"kinds": ["gzip"]},
    } == rows[0]


@pytest.mark.parametrize(("version", "outcome"), [("v1", "broken"), ("latest", "good"), ("first", "broken")])
def test_the_results_of_one_version_are_listed(console, collection, version, outcome):
    assert outcome == console.answer("backup:checks", collection, version, "-f", "value", "-c", "Outcome")


def test_an_unknown_collection_or_version_is_refused(console, collection):
    assert "There is no collection with this id" in console.refusal(
        "backup:checks", "1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb009"
    )
    assert "Object not found" in console.refusal("backup:checks", collection, "v9")
