"""`frepo backup:preview` shows what is kept, as a table and for programs."""

import json

import pytest

NIGHTS = ("--every", "1d", "--for", "30d", "--size", "1kB", "--start", "2026-01-01T02:00")


@pytest.fixture
def collection(console):
    return console.answer("backup:create-collection", "-f", "db.sql").strip()


def preview(console, collection, *options):
    return json.loads(console.answer("backup:preview", collection, *options, "-f", "json"))


def test_a_schedule_under_other_rules(console, collection):
    rows = preview(console, collection, *NIGHTS, "--strategy", "keep", "--strategy-options", '{"weekly": 0}')

    assert [row["Version"] for row in rows] == [f"v{number}" for number in range(24, 31)]
    assert rows[0] == {
        "Version": "v24",
        "Time": "2026-01-24T02:00:00+00:00",
        "Size": 1000,
        "Imagined": True,
        "Kept": True,
        "Rules": ["daily"],
        "Evicted": None,
        "By": "",
        "Cause": "",
    }


def test_all_versions_of_a_schedule(console, collection):
    rows = preview(console, collection, *NIGHTS, "--max-backups-count", "7", "--all")

    assert len(rows) == 30
    assert (rows[0]["Kept"], rows[0]["Evicted"], rows[0]["By"], rows[0]["Cause"]) == (
        False,
        "2026-01-08T02:00:00+00:00",
        "v8",
        "room",
    )


def test_the_storage_of_each_day(console, collection):
    rows = preview(console, collection, *NIGHTS, "--growth", "1", "--storage")

    assert (len(rows), rows[0]) == (30, {"Day": "2026-01-01", "Versions": 1, "Size": 1000, "Trash": 0})


def test_people_get_a_table(console, collection):
    table = console.answer("backup:preview", collection, *NIGHTS, "--strategy", "keep")

    assert "2026-01-30 02:00:00" in table
    assert "last, daily, weekly, monthly" in table
    assert "1.00 kB" in table


def test_a_wrong_option_is_named(console, collection):
    for option, value in [
        ("--every", "often"),
        ("--for", "long"),
        ("--size", "big"),
        ("--size", "-5"),
        ("--growth", "1000"),
        ("--start", "soon"),
    ]:
        assert f"{option}: " in console.refusal("backup:preview", collection, option, value)
