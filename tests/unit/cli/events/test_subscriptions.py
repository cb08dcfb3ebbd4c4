"""The commands about subscriptions: what waits for a subscriber whose package was removed, and its end."""

import contextlib
import json
import sqlite3

import pytest


@pytest.fixture
def gone(console):
    """A subscription without a plug-in: three events behind, and one parked."""
    for _ in range(4):
        console.answer("auth:create-token", "--roles", "upload.all")
    with contextlib.closing(sqlite3.connect(console.database)) as database, database:
        database.execute("UPDATE event SET position = id")
        columns = "(name, position, epoch, tries, error, created_at)"
        values = "('old', 1, 1, 2, 'RuntimeError: no paint', '2026-05-01')"
        database.execute(f"INSERT INTO subscription {columns} VALUES {values}")
        columns = "(subscription, event_id, kind, tries, error, parked_at)"
        database.execute(
            f"INSERT INTO parked_event {columns} VALUES ('old', 1, 'token.created', 12, 'x', '2026-05-01')"
        )


def subscriptions(console):
    return json.loads(console.answer("events:subscriptions", "-f", "json"))


def test_subscriptions_are_listed_with_how_far_behind_they_are(console, gone):
    [row] = [each for each in subscriptions(console) if each["Subscriber"] == "old"]

    assert (None, 1, 3, 1, 2) == tuple(row[name] for name in ("Package", "Position", "Behind", "Parked", "Tries"))
    assert "RuntimeError: no paint" == row["Error"]


def test_the_end_of_a_subscription_says_what_is_lost(console, gone):
    done = json.loads(console.answer("events:unsubscribe", "old", "-f", "json"))

    assert {"subscriber": "old", "undelivered": 3, "parked": 1} == done
    assert "old" not in [each["Subscriber"] for each in subscriptions(console)]
    assert [] == console.rows("SELECT id FROM parked_event")


def test_an_unknown_name_is_refused_with_the_known_ones(console, gone):
    assert "No subscription has the name 'older'; there are: old" in console.refusal("events:unsubscribe", "older")


def test_an_installed_subscriber_needs_force(console, gone):
    with contextlib.closing(sqlite3.connect(console.database)) as database, database:
        database.execute("UPDATE subscription SET name = 'notify_ops' WHERE name = 'old'")
    installed = {"NOTIFY_TARGETS": "ops json://127.0.0.1/x"}

    refused = console.refusal("events:unsubscribe", "notify_ops", **installed)
    assert "--force: is required: " in refused
    assert "3 events that it has not got and 0 parked ones would be lost" in refused

    done = console.answer("events:unsubscribe", "notify_ops", "--force", "-f", "json", **installed)
    assert 3 == json.loads(done)["undelivered"]
