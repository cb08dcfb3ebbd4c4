"""Sizes and lengths of time: one form in the tables for people, and the form of the API for programs."""

import contextlib
import json
import re
import sqlite3

import pytest


@pytest.mark.parametrize("command", ["backup:show", "backup:status"])
def test_a_table_writes_each_length_of_time_in_the_short_form_and_bytes_without_decimals(console, command):
    options = ["--expected-every", "P1D", "--grace", "90m", "--min-retention", "7d", "--min-version-size", "200"]
    collection = console.answer("backup:create-collection", "-f", "a", *options)
    table = dict(re.findall(r"^\| (\w+) +\| (.*?) +\|$", console.answer(command, collection), re.MULTILINE))
    record = json.loads(console.answer(command, collection, "-f", "json"))

    expected = {
        "expected_every": "1d",
        "grace": "90m",
        "min_retention": "1w",
        "stored_size": "0B",
        "min_version_size": "200B",
    }
    assert {name: text for name, text in expected.items() if name in table} == {
        name: text for name, text in table.items() if name in expected
    }
    assert ("P1D", 0) == (record["expected_every"], record["stored_size"])


def test_the_list_of_overdue_collections_writes_lengths_of_time_as_the_other_tables(console):
    console.answer("backup:create-collection", "-f", "a", "--expected-every", "PT1M", "--grace", "0s")
    with contextlib.closing(sqlite3.connect(console.database)) as database, database:
        database.execute("UPDATE collection SET overdue_at = '2026-01-01', due_at = '2026-01-01'")

    assert "| 1m " in console.run("status", "--overdue").stdout
    assert '"PT1M"' in console.run("status", "--overdue", "-f", "json").stdout
