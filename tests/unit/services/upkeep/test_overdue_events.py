"""The job that writes an event when a backup is overdue, and one when it has arrived."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import event, insert, select

from frepo_core.db.models import Collection, Event
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.rows.expected_backups import set_arrived, set_expectation

WARSAW = ZoneInfo("Europe/Warsaw")
START = datetime(2026, 3, 15, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def expecting(services, make_collection):
    """Make a collection that was created, and got its first version, at START."""

    def expecting(expected_every, **more):
        collection = make_collection()

        def work(session):
            row = session.get(Collection, collection)
            row.created_at = START
            set_expectation(row, CollectionChange(limits={}, expected_every=expected_every, **more), now=START)
            row.last_number = 1
            set_arrived(row, START)

        services.database.write(work)
        return collection

    return expecting


@pytest.fixture
def arrive(services):
    """Let a version arrive at a time; its bytes do not matter."""
    return lambda collection, at: services.database.write(
        lambda session: set_arrived(session.get(Collection, collection), at)
    )


@pytest.fixture
def events(services):
    """Return the kinds and the data of the events of the job, in their order."""

    def events(*keys):
        query = select(Event).where(Event.actor == "system:overdue").order_by(Event.id)
        with services.database.reading() as session:
            rows = session.scalars(query).all()
        return [(row.kind.partition(".")[2], *(parsed(row.data[key]) for key in keys)) for row in rows]

    return events


@pytest.mark.databases
def test_an_overdue_backup_and_its_recovery_are_one_event_each(run, expecting, arrive, events):
    collection = expecting("1d", grace="PT1H")
    expecting("7d")
    found = [run("overdue", START + DAY + minutes * MINUTE) for minutes in (0, 59, 60, 61, 600)]
    arrive(collection, START + 2 * DAY)
    found += [run("overdue", START + 2 * DAY + minutes * MINUTE) for minutes in (1, 2)]

    assert [0, 0, 1, 0, 0, 0, 0] == [one["overdue"] for one in found]
    assert [0, 0, 0, 0, 0, 1, 0] == [one["recovered"] for one in found]
    due, end = START + DAY, START + DAY + HOUR
    assert events("last_arrival") == [("overdue", START), ("recovered", START + 2 * DAY)]
    assert [due, end] == [events_data(run, "overdue", key) for key in ("due_at", "overdue_at")]
    assert end == events_data(run, "recovered", "overdue_since")
    assert "a version arrived" == events_data(run, "recovered", "reason")


def events_data(run, kind, key):
    with run.services.database.reading() as session:
        return parsed(session.scalar(select(Event).where(Event.kind == f"collection.{kind}")).data[key])


def parsed(value):
    """Return the time for the text of one. Any other value stays."""
    try:
        return datetime.fromisoformat(value)
    except (ValueError, TypeError):
        return value


@pytest.mark.costly
@pytest.mark.parametrize(
    ("first", "missing", "local"),
    [
        # There is no 02:00 on March 29th, so the backup of that night is due at 03:00.
        ("2026-03-15", "2026-03-29", "03:00"),
        # 02:00 happens twice on October 25th. The backup is due at the first.
        ("2026-10-10", "2026-10-25", "02:00"),
    ],
)
def test_a_month_of_nights_with_a_change_of_clocks_misses_one_night_only(
    services, run, make_collection, arrive, events, first, missing, local
):
    """Each night's backup arrives 20 minutes after it is due, and one more each afternoon; one night is missing."""
    start = warsaw(f"{first} 12:00")
    collection = make_collection()

    def begin(session):
        row = session.get(Collection, collection)
        row.created_at = row.arrived_at = start
        change = CollectionChange(limits={}, expected_every="0 2 * * * Europe/Warsaw", grace="1h")
        set_expectation(row, change, now=start)

    services.database.write(begin)
    now, end = start, start + 30 * DAY
    arrivals = iter(sorted(arrivals_of_a_month(start, missing)))
    next_arrival = next(arrivals)
    while now < end:
        if next_arrival <= now:
            arrive(collection, next_arrival)
            next_arrival = next(arrivals, end)
        run("overdue", now)
        now += 2 * HOUR

    assert warsaw(f"{missing} {local}") == events_data(run, "overdue", "due_at")
    assert ["overdue", "recovered"] == [kind for kind, *_ in events()]
    assert warsaw(f"{missing} 14:00") == events_data(run, "recovered", "last_arrival")


def arrivals_of_a_month(start, missing):
    """Yield when backups arrive: each night but one, when a client's own cron sends it, and each afternoon."""
    for day in range(1, 31):
        date = (start + day * DAY).astimezone(WARSAW).date().isoformat()
        yield warsaw(f"{date} 14:00")
        if date != missing:
            yield warsaw(f"{date} 02:20")


def warsaw(text):
    return datetime.fromisoformat(text).replace(tzinfo=WARSAW).astimezone(UTC)


@pytest.mark.databases
def test_a_service_that_was_down_over_the_deadline_writes_the_event_once(run, expecting, events):
    expecting("1d")

    assert {"overdue": 1, "recovered": 0} == run("overdue", START + 5 * DAY)
    assert {"overdue": 0, "recovered": 0} == run("overdue", START + 5 * DAY + MINUTE)
    assert [("overdue",)] == events()


def test_an_arrival_and_the_next_missed_deadline_without_a_worker_are_two_events(run, expecting, arrive, events):
    collection = expecting("1d")
    run("overdue", START + 2 * DAY)
    arrive(collection, START + 2 * DAY + HOUR)

    run("overdue", START + 9 * DAY)

    assert [("overdue",), ("recovered",), ("overdue",)] == events()


def test_an_edit_that_moves_the_deadline_recovers(services, sender, run, expecting, events):
    collection = expecting("1d")
    run("overdue", START + 2 * DAY)

    services.collections.edit(collection, CollectionChange(limits={}, expected_every=""), by=sender)
    run("overdue", START + 2 * DAY + MINUTE)
    run("overdue", START + 3 * DAY)

    assert [("overdue",), ("recovered",)] == events()
    assert "the expectation was changed" == events_data(run, "recovered", "reason")


def test_nothing_is_written_in_read_only_mode(services, run, expecting, events):
    expecting("1d")
    services.settings.__dict__["read_only"] = True

    assert "skipped" in run("overdue", START + 5 * DAY)
    assert [] == events()


@pytest.fixture
def statements(services):
    """Collect the statements that the service sends."""
    seen = []
    engine = services.database.engine

    def note(connection, cursor, statement, parameters, context, many):
        seen.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    yield seen
    event.remove(engine, "before_cursor_execute", note)


def fill(services, count):
    """Add collections: a hundred are overdue an hour after they are due, the others an hour later."""
    zeros = ("max_backups_count", "max_one_version_size", "max_collection_size", "last_number", "versions_count")
    common = dict.fromkeys((*zeros, "stored_size"), 0) | {"strategy": "s", "description": "", "filename": "a.sql"}
    common |= {"created_at": START, "expected_every": "P1D", "due_at": START + DAY, "overdue_at": START + DAY + HOUR}
    rows = [
        common
        | {"id": f"00000000-0000-4000-8000-{number:012}", "overdue_at": START + DAY + (1 + (number >= 100)) * HOUR}
        for number in range(count)
    ]
    services.database.write(lambda session: session.execute(insert(Collection), rows))


@pytest.mark.costly
@pytest.mark.databases
def test_ten_thousand_collections_at_once_need_few_statements(services, run, statements):
    fill(services, 10_000)

    times = [START + DAY + 90 * MINUTE, START + DAY + 91 * MINUTE, START + 2 * DAY]
    found = [measure(run, statements, now) for now in times]

    assert [100, 0, 9_900] == [overdue for overdue, _ in found]
    assert 2 == found[1][1]  # which ones are overdue, and which have recovered
    # All at once. For each batch of 1,000: the ids, the lock, the events, the update, and the transactions.
    assert found[2][1] <= 10 * 7


def measure(run, statements, now):
    """Return how many became overdue, and the number of queries and changes."""
    del statements[:]
    overdue = run("overdue", now)["overdue"]
    return overdue, len([one for one in statements if not one.startswith(("BEGIN", "COMMIT", "ROLLBACK"))])
