"""The commands that say what is wrong, who sent nothing, and how much space is used."""

import json
from datetime import timedelta

import pytest
from sqlalchemy import insert, update

from frepo_core.db import utc_now
from frepo_core.db.models import Collection, Lease, Sample
from frepo_core.services.backups.collections.collections import CollectionChange

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def database_url(console):
    """Return the URL of the console's database."""
    return f"sqlite:///{console.database}"


@pytest.fixture
def make(services):
    """Make a collection; the values are those of its row."""

    def make(name, labels=(), expected_every=None, **values):
        change = CollectionChange(limits={}, filename=name, labels=labels, expected_every=expected_every)
        collection = services.collections.create(change, by=None).id
        if values:
            row = update(Collection).where(Collection.id == collection).values(**values)
            services.database.write(lambda session: session.execute(row))
        return collection

    return make


@pytest.fixture
def led(services):
    """Let a worker lead."""
    lease = {"name": "worker", "holder": "a", "epoch": 1, "renewals": 1, "expires_at": utc_now() + HOUR}
    services.database.write(lambda session: session.execute(insert(Lease), [lease]))


def rows_of(done):
    assert done.stderr == ""
    return json.loads(done.stdout)


class TestStatus:
    def test_nothing_wrong_is_exit_status_0(self, console, make, led):
        make("good.sql", expected_every="1d")
        make("late.sql", expected_every="1d", due_at=utc_now() - HOUR)

        done = console.run("status", "-f", "json")

        assert 0 == done.returncode
        rows = {row["What"]: (row["State"], row["Details"]) for row in rows_of(done)}
        assert ("ok", "1 late, 1 new") == rows["collections"]
        assert {"ok"} == {state for state, _ in rows.values()}
        assert {"database", "storage", "blobs", "trash", "worker", "jobs", "collections"} == rows.keys()

    def test_a_service_without_a_worker_is_wrong(self, console, services):
        done = console.run("status", "-f", "json")

        assert 1 == done.returncode
        rows = {row["What"]: (row["State"], row["Details"]) for row in rows_of(done)}
        assert "wrong" == rows["worker"][0]
        assert "No worker leads" in rows["worker"][1]

    def test_collections_with_a_problem_are_named_the_worst_first(self, console, make, led):
        since = utc_now() - 2 * HOUR
        full = make("full.sql", full_since=since)
        overdue = make("overdue.sql", expected_every="1d", due_at=since, overdue_at=since)

        done = console.run("status", "-f", "json")

        assert 1 == done.returncode
        shown = [(row["What"], row["State"], row["Details"]) for row in rows_of(done)][-2:]
        assert shown == [
            (f"collection {overdue}", "wrong", f"overdue.sql: overdue since {since:%Y-%m-%d %H:%M} UTC"),
            (f"collection {full}", "wrong", f"full.sql: full since {since:%Y-%m-%d %H:%M} UTC"),
        ]


class TestOverdue:
    def test_who_sent_nothing_is_listed_the_overdue_ones_first(self, console, make):
        now = utc_now()
        late = make("late.sql", expected_every="1d", due_at=now - HOUR, overdue_at=now + HOUR)
        times = {"due_at": now - 5 * HOUR, "overdue_at": now - 3 * HOUR, "arrived_at": now - 29 * HOUR}
        overdue = make("db7.sql", ["db", "warsaw"], "0 2 * * * Europe/Warsaw", full_since=now, **times)
        make("good.sql", expected_every="1d")

        done = console.run("status", "--overdue", "-f", "json")

        assert 1 == done.returncode
        rows = rows_of(done)
        assert [(overdue, "db7.sql", "overdue"), (late, "late.sql", "late")] == [
            (row["Collection"], row["Name"], row["State"]) for row in rows
        ]
        assert (
            rows[0]
            | {
                "Due": times["due_at"].isoformat(),
                "Overdue": times["overdue_at"].isoformat(),
                "Last arrival": times["arrived_at"].isoformat(),
                "Expected every": "0 2 * * * Europe/Warsaw",
                "Labels": ["db", "warsaw"],
            }
            == rows[0]
        )

    def test_a_late_one_alone_is_not_wrong(self, console, make):
        make("late.sql", expected_every="1d", due_at=utc_now() - HOUR)

        assert "late.sql" == console.answer("status", "--overdue", "-f", "value", "-c", "Name")


class TestUsage:
    def test_the_service_and_its_largest_collections_are_shown(self, console, services, make):
        small, large = make("small.sql", stored_size=10), make("large.sql", stored_size=5000, versions_count=2)
        counts = {"at": utc_now() - 10 * DAY, "versions": 0, "blobs": 0, "sent": None}
        samples = [counts | {"collection_id": one, "size": size} for one, size in ((None, 0), (large, 1000))]
        more = {"uploads": None, "refusals": None}
        services.database.write(lambda session: session.execute(insert(Sample), [row | more for row in samples]))

        rows = json.loads(console.answer("storage:usage", "-f", "json"))

        assert [None, large, small] == [row["Collection"] for row in rows]
        assert ("the service (storage local)", 2, 0) == tuple(rows[0][name] for name in ("Name", "Versions", "Size"))
        assert (5000, 400, None) == tuple(rows[1][name] for name in ("Size", "Growth a day", "Full on"))
        assert "large.sql" in console.answer("storage:usage", "--limit", "1")

    def test_a_wrong_limit_is_refused(self, console):
        assert "at least 1" in console.refusal("storage:usage", "--limit", "0")
