"""Searches find numbered events in the order of commits, by kind, collection, actor and time."""

from datetime import timedelta

import pytest
from sqlalchemy import event as sql
from sqlalchemy import insert, text, update

from frepo_core.db import utc_now
from frepo_core.db.models import Event
from frepo_core.db.statistics import refresh_statistics
from frepo_core.domain.event_kinds import EventKind
from frepo_core.services.events.search import EventSearch, newest_events, next_events

pytestmark = pytest.mark.databases

FIRST, SECOND = ("00000000-0000-4000-8000-00000000000" + digit for digit in "12")


@pytest.fixture
def made(services):
    """Twelve events: added and deleted versions of two collections by two actors, an hour apart, positions reversed."""
    now = utc_now()
    rows = [
        {
            "position": 100 - number,
            "at": now - timedelta(hours=number),
            "kind": ("version.added", "version.deleted", "token.created")[number % 3],
            "actor": ("console:root", "0123456789ab")[number % 2],
            "collection_id": (FIRST, SECOND)[number // 6],
            "data": {"number": number},
        }
        for number in range(12)
    ]
    unnumbered = {**rows[0], "position": None}
    services.database.write(lambda session: session.execute(insert(Event), [*rows, unnumbered]))
    return now


def numbers(services, search=None, limit=50, **more):
    return [
        event.data["number"] for event in newest_events(services.database, search or EventSearch(**more), limit=limit)
    ]


def test_the_newest_come_first_and_unnumbered_ones_are_not_shown(services, made):
    assert list(range(12)) == numbers(services)


def test_a_late_commit_is_found_since_its_time(services, made):
    """An event may be committed, and numbered, after ones that were recorded some minutes later."""
    late = update(Event).where(Event.position == 96).values(at=made - timedelta(hours=5, minutes=10))
    services.database.write(lambda session: session.execute(late))

    assert [0, 1, 2, 3, 4, 5] == numbers(services, since=made - timedelta(hours=5, minutes=20))


def test_the_next_events_after_a_position(services, made):
    found = next_events(services.database, EventSearch(kinds=["version.*"]), limit=3, after=93)

    assert [6, 4, 3] == [event.data["number"] for event in found]


def test_no_search_reads_all_events(services, database_kind):
    """With 3,000 events and none that matches, a page is found in an index."""
    now, kind = utc_now(), EventKind.VERSION_ADDED.value
    row = {"kind": kind, "actor": "console:root", "collection_id": FIRST, "data": {}}
    rows = [
        row | {"position": number, "at": now - timedelta(days=9) + timedelta(minutes=number)}
        for number in range(1, 3001)
    ]
    services.database.write(lambda session: session.execute(insert(Event), rows))
    refresh_statistics(
        services.database, keep_going=lambda: None
    )  # the daily job does it; MariaDB plans with old ones otherwise
    statements = []
    engine = services.database.engine

    def note(connection, cursor, statement, parameters, *_):
        statements.append((statement, parameters))

    for search in [
        {},
        {"kinds": ["job.*"]},
        {"kinds": ["job.failed"], "collection_id": SECOND},
        {"actor": "nobody"},
        {"since": now},
    ]:
        statements.clear()
        sql.listen(engine, "before_cursor_execute", note)
        newest_events(services.database, EventSearch(**search), limit=5)
        sql.remove(engine, "before_cursor_execute", note)
        plans = [_plan(engine, database_kind, *one) for one in statements if one[0].startswith("SELECT")]

        assert plans, search
        assert [] == [plan for plan in plans if _reads_all(plan)], search


def _plan(engine, kind, statement, parameters):
    with engine.connect() as connection:
        if kind == "postgresql":
            connection.execute(text("SET LOCAL enable_seqscan = off"))
        explain = "EXPLAIN QUERY PLAN " if kind == "sqlite" else "EXPLAIN "
        return [str(row) for row in connection.exec_driver_sql(explain + statement, parameters)]


def _reads_all(plan):
    return any(
        ("SCAN event" in row and "INDEX" not in row) or "Seq Scan" in row or "'ALL', None" in row
        for row in plan
        if "event" in row
    )
