"""The command `events`."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

FREPO = Path(sys.executable).parent / "frepo"

COLLECTION = ["backup:create-collection", "-f", "dump.sql"]


@pytest.fixture
def number(console):
    """Number the events, as the worker does."""

    def number():
        with contextlib.closing(sqlite3.connect(console.database)) as database, database:
            database.execute("UPDATE event SET position = id WHERE position IS NULL")

    return number


@pytest.fixture
def collection(console, number):
    """A collection whose creation is the newest event, after that of a token."""
    console.answer("auth:create-token", "--roles", "upload.all")
    collection = console.answer(*COLLECTION)
    number()
    return collection


def shown(console, *options):
    return json.loads(console.answer("events", "-f", "json", *options))


def test_events_are_listed_newest_first(console, collection):
    created, token = shown(console)

    assert ("collection.created", collection) == (created["Kind"], created["Collection"])
    assert "dump.sql" == created["Data"]["after"]["filename"]
    assert created["Actor"].startswith("console:")
    assert "token.created" == token["Kind"]


def test_the_collection_of_events_is_named_by_its_id_or_its_name(console, collection):
    by_name = console.answer("events", "--collection", "dump.sql", "-f", "json")

    assert [collection] == [event["Collection"] for event in json.loads(by_name)]
    assert by_name == console.answer("events", "--collection", collection, "-f", "json")


def test_an_event_without_a_position_is_not_shown_yet(console, collection, number):
    console.answer(*COLLECTION)
    before = len(shown(console))
    number()

    assert (2, 3) == (before, len(shown(console)))


def test_a_table_shows_the_data_as_json(console, collection):
    assert '"name": "dump.sql"' in console.answer("events", "--kind", "collection.*", "--fit-width")


def test_options_restrict(console, collection):
    for options, count in [
        (["--kind", "collection.*"], 1),
        (["--kind", "token.created", "--kind", "version.*"], 1),
        (["--kind", "job.failed"], 0),
        (["--actor", "console:nobody"], 0),
        (["--since", "1h"], 2),
        (["--since", "2100-01-01"], 0),
        (["--limit", "1"], 1),
    ]:
        assert count == len(shown(console, *options))


def test_wrong_options_are_refused(console):
    for options, said in [
        (["--kind", "versions.*"], "'versions.*' matches no kind of event"),
        (["--since", "yesterday"], "'yesterday' is neither a length of time such as 7d nor a time"),
        (["--limit", "0"], "must be from 1 to 100000"),
    ]:
        assert said in console.refusal("events", *options)


@pytest.fixture
def follower(console):
    """`frepo events --follow`; it is killed if it does not end, so that no test waits for ever."""
    # A shell lets its background jobs ignore SIGINT, and their children inherit that: `env` undoes it.
    command = ["env", "--default-signal=INT", FREPO, "events", "--follow", "-f", "json"]
    process = subprocess.Popen(command, env=console.environment, cwd=console.folder, stdout=subprocess.PIPE, text=True)
    deadline = threading.Timer(60, process.kill)
    deadline.start()
    with process:
        yield process
        process.kill()
    deadline.cancel()


def test_all_events_are_exported(console, collection):
    lines = [json.loads(line) for line in console.answer("events", "--export", "jsonl").splitlines()]
    rows = console.answer("events", "--export", "csv", "--kind", "collection.*").splitlines()

    assert ["collection.created", "token.created"] == [line["kind"] for line in lines]
    assert (2, "position,at,kind,actor") == (len(rows), rows[0][:22])


def test_a_table_shows_what_an_edit_changed(console, collection, number):
    console.answer("backup:edit", collection, "--description", "new", "--max-backups-count", "9")
    number()
    shown = console.answer("events", "--kind", "*.edited", "--max-width", "400")

    assert 'description: "" -> "new"' in shown
    assert (True, False) == ("versions: 0 -> 9" in shown, "maxBackupsCount" in shown)


@pytest.mark.costly
def test_following_shows_old_and_new_events_until_it_is_interrupted(console, collection, number, follower):
    first = [json.loads(follower.stdout.readline()) for _ in range(2)]
    another = console.answer(*COLLECTION)
    number()
    new = json.loads(follower.stdout.readline())
    os.kill(follower.pid, signal.SIGINT)

    assert 0 == follower.wait(20)
    assert ["token.created", "collection.created"] == [event["Kind"] for event in first]
    assert another == new["Collection"]
