"""Sizes, times and lengths of time: one form in the tables for people, and the form of the API for programs."""

import contextlib
import gzip
import json
import re
import sqlite3

import pytest


def test_a_table_writes_each_length_of_time_in_the_short_form_and_bytes_without_decimals(console):
    for command in ["backup:show", "backup:status"]:
        options = ["--expected-every", "P1D", "--grace", "90m", "--min-retention", "7d", "--min-version-size", "200"]
        collection = console.answer("backup:create-collection", "-f", "a", *options)
        table = dict(re.findall(r"^\| (\w+) +\| (.*?) +\|$", console.answer(command, collection), re.MULTILINE))
        record = json.loads(console.answer(command, collection, "-f", "json"))

        expected = {
            "expected_every": "1d",
            "grace": "90m",
            "min_retention": "1w",
            "stored_size": "0 bytes",
            "min_version_size": "200 bytes",
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


def table_of(console, *command):
    """Return the table of a command with one record, by field."""
    return dict(re.findall(r"^\| (\w+) +\| (.*?) *\|$", console.run(*command).stdout, re.MULTILINE))


@pytest.fixture
def collection(console):
    """A collection with one version, whose check and restore test are recorded."""
    collection = console.answer("backup:create-collection", "-f", "a.gz")
    (console.folder / "a.gz").write_bytes(gzip.compress(b"a dump", mtime=0))
    console.answer("backup:upload", collection, "a.gz")
    console.answer("backup:test-restore", collection, "--command", "gunzip -t")
    return collection


def test_the_results_of_checks_have_short_times_and_plain_details_in_a_table(console, collection):
    table = console.answer("backup:checks", "--long", collection)
    integrity, restore = json.loads(console.answer("backup:checks", "--long", collection, "-f", "json"))

    assert f"| {integrity['At'][:19].replace('T', ' ')} |" in table
    assert "| kinds gzip " in table
    assert re.search(r"\| command gunzip, size 26 bytes, read 26 bytes, status 0, seconds [\d.]+ +\|", table)
    assert ({"kinds": ["gzip"]}, 26) == (integrity["Details"], restore["Details"]["read"])
    assert "+00:00" in integrity["At"]


def test_the_restore_test_prints_a_readable_size(console, collection):
    command = ("backup:test-restore", collection, "--command", "gunzip -t")

    assert "26 bytes" == table_of(console, *command)["read"]
    assert 26 == json.loads(console.answer(*command, "-f", "json"))["read"]


def test_a_job_prints_readable_sizes_and_lists(console, collection):
    table = table_of(console, "jobs:run", "verify")
    record = json.loads(console.answer("jobs:run", "verify", "-f", "json"))

    assert ("1", "26 bytes", "0", "") == tuple(table[name] for name in ("checked", "size", "damaged", "examples"))
    assert {"size": 0, "examples": []}.items() <= record.items()
    assert "| checked 1, size 26 bytes, damaged 0 " in console.answer("jobs", "verify")
    assert "0 bytes" == table_of(console, "jobs:run", "sweep")["orphan_size"]


def test_a_list_without_items_is_empty_in_a_table(console, collection):
    assert "" == table_of(console, "storage:verify")["damaged"]
