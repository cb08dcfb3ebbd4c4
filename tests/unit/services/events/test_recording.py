"""Events are rows that are committed with the transaction of their fact."""

import getpass

import pytest
from sqlalchemy import text

from frepo_core.db import utc_now
from frepo_core.db.models import Tag
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Actor
from frepo_core.services.events.recording import NewEvent, record

KIND = EventKind.STORAGE_FULL


def fact(by=None, **more):
    return NewEvent(kind=KIND, by=by, **more)


@pytest.mark.databases
def test_an_event_alone_is_committed(services, events):
    before = utc_now()

    services.database.write(lambda session: record(session, fact(data={"storage": "local", "problem": "żółw 🐢"})))

    (event,) = events()
    assert ("storage.full", {"storage": "local", "problem": "żółw 🐢"}) == (event.kind, event.data)
    assert before <= event.at <= utc_now()
    assert event.position is None


@pytest.mark.databases
def test_an_event_is_rolled_back_with_its_fact(services, events):
    def work(session):
        session.add(Tag(name="fact"))
        record(session, fact())
        raise KeyError

    with pytest.raises(KeyError):
        services.database.write(work)

    assert [] == events()


def test_an_event_names_its_objects(services, events):
    fields = {"collection_id": "c" * 36, "version_number": 2**40, "file_id": 2**40 + 1, "token": "f" * 16}

    services.database.write(lambda session: record(session, fact(**fields)))

    (event,) = events()
    assert fields == {name: getattr(event, name) for name in fields}


def test_several_events_are_one_statement(services, events, at_statement):
    seen = []
    at_statement("INSERT INTO event", lambda: seen.append(1), nth=0)

    services.database.write(lambda session: record(session, *[fact(version_number=number) for number in range(5)]))

    assert ([1], [0, 1, 2, 3, 4]) == (seen, [event.version_number for event in events()])


def test_no_event_is_no_statement(services, at_statement):
    at_statement("INSERT", lambda: pytest.fail("an event was inserted"), nth=0)

    services.database.write(record)


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        (None, (f"console:{getpass.getuser()}", None)),
        (Actor(name="system:verify"), ("system:verify", None)),
        (Actor(name="anonymous", address="2001:db8::7"), ("anonymous", "2001:db8::7")),
        (Actor(name="x" * 200, address="y" * 200), ("x" * 128, "y" * 64)),
    ],
)
def test_an_event_names_its_actor(services, events, by, expected):
    services.database.write(lambda session: record(session, fact(by)))

    (event,) = events()
    assert expected == (event.actor, event.address)


def test_a_client_is_named_by_fingerprint_and_address(services, events, sender):
    services.database.write(lambda session: record(session, fact(sender)))

    event = events()[-1]
    assert (sender.fingerprint, "127.0.0.1") == (event.actor, event.address)


def test_data_that_the_kind_does_not_list_is_refused(services, events):
    with pytest.raises(ValueError, match=r"storage\.full has no data with the key 'password'"):
        services.database.write(lambda session: record(session, fact(data={"password": "x"})))

    assert [] == events()


PLANS = {
    "sqlite": ("EXPLAIN QUERY PLAN {}", "USING COVERING INDEX ix_event_position (position=?)"),
    "postgresql": ("EXPLAIN {}", "ix_event_unnumbered"),
    "mariadb": ("EXPLAIN {}", "'ref', 'ix_event_position', 'ix_event_position'"),
}

# What the databases do at any time, or not yet, and what their planners count by: PostgreSQL's statistics, and
# MariaDB's removal of the index entries from before the UPDATE.
SETTLE = {"postgresql": "ANALYZE event", "mariadb": "SET GLOBAL innodb_max_purge_lag_wait = 0"}


@pytest.mark.databases
def test_an_index_finds_the_rows_without_a_position(services, database_kind):
    services.database.write(lambda session: record(session, *[fact() for _ in range(3000)]))
    with services.database.engine.begin() as connection:
        connection.execute(text("UPDATE event SET position = id"))
    services.database.write(lambda session: record(session, fact()))
    explain, expected = PLANS[database_kind]

    with services.database.engine.connect() as connection:
        if settle := SETTLE.get(database_kind):
            connection.execute(text(settle))
        query = "SELECT id FROM event WHERE position IS NULL ORDER BY id LIMIT 100"
        rows = connection.execute(text(explain.format(query))).all()

    assert expected in str(rows)
