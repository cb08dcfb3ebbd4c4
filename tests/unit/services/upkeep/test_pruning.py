from datetime import timedelta

import pytest
from sqlalchemy import insert, select

from frepo_core.db.models import Collection, Event, JobRun, Lease, ParkedEvent, Run, Subscription, Tag
from frepo_core.plugins import LeaseLost
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.base.lease import LEADER
from frepo_core.services.events.numbering import find_last_position, number_events
from support.fixtures.upkeep import NOON

pytestmark = pytest.mark.databases


@pytest.fixture
def put(services):
    """Insert rows."""

    def put(model, *rows):
        services.database.write(lambda session: session.execute(insert(model), list(rows)))

    return put


def event(number, days, position="same"):
    """Return the row of an event of some days ago."""
    values = {"id": number, "position": number if position == "same" else position, "at": NOON - timedelta(days=days)}
    return values | {"kind": "token.created", "actor": "system:test", "data": {}}


def subscription(name, position):
    return {"name": name, "position": position, "epoch": 1, "tries": 0, "created_at": NOON}


@pytest.fixture
def left(services):
    """Return the ids of the rows that are left."""

    def left(model=Event):
        with services.database.reading() as session:
            return list(session.scalars(select(model.id).order_by(model.id)))

    return left


def test_events_are_kept_for_400_days(run, put, left):
    put(Event, event(1, 401), event(2, 399), event(3, 0))

    summary = run("events", NOON)

    assert [2, 3] == left()
    assert (1, 0) == (summary["events"], summary["late"])


def test_subscriptions_without_a_subscriber_are_named_with_what_to_do(run, put, caplog):
    put(Event, event(1, 500), event(2, 0))
    put(Subscription, subscription("mail", 0))

    summary = run("events", NOON)

    assert ["mail"] == summary["gone"]
    assert "frepo events:unsubscribe" in summary["advice"]
    assert summary["advice"] in caplog.text


@pytest.mark.parametrize(("position", "expected"), [(0, [1, 2, 3]), (2, [3]), (3, [])])
def test_an_event_that_a_subscription_has_not_got_stays(run, put, left, position, expected):
    put(Event, *[event(number, 500) for number in (1, 2, 3)], event(4, 0))
    put(Subscription, subscription("mail", position), subscription("audit", 3))

    summary = run("events", NOON)

    assert [*expected, 4] == left()
    assert (len(expected), ["mail"] if expected else []) == (summary["late"], summary["waiting_for"])


@pytest.mark.parametrize("subscriptions", [[], [subscription("mail", 3)]])
def test_the_newest_event_stays_because_positions_continue_from_it(services, run, put, left, subscriptions):
    """A reader who remembers position 3 must get the next event, which would otherwise have position 1."""
    put(Event, *[event(number, 500) for number in (1, 2, 3)])
    for row in subscriptions:
        put(Subscription, row)

    summary = run("events", NOON)
    put(Event, event(4, 0, position=None))
    put(Lease, {"name": LEADER, "epoch": 1, "renewals": 0, "expires_at": NOON})
    number_events(services.database, 1)

    assert [3, 4] == left()
    assert (2, 0, []) == (summary["events"], summary["late"], summary["waiting_for"])
    assert 4 == find_last_position(services.database)


def test_the_newest_is_the_event_with_the_highest_position(run, put, left):
    put(Event, event(1, 500, position=2), event(2, 500, position=1))

    run("events", NOON)

    assert [1] == left()


def test_an_event_without_a_position_stays(run, put, left):
    put(Event, event(1, 500), event(2, 500), event(3, 500, position=None))

    summary = run("events", NOON)

    assert [2, 3] == left()
    assert 1 == summary["late"]


def test_a_parked_event_stays_until_it_is_retried(run, put, left):
    put(Event, event(1, 500), event(2, 500), event(3, 500))
    put(Subscription, subscription("mail", 3))
    parked = {"subscription": "mail", "event_id": 1, "kind": "token.created", "tries": 12, "error": "x"}
    put(ParkedEvent, parked | {"parked_at": NOON})

    run("events", NOON)

    assert [1, 3] == left()


def test_many_events_are_deleted_in_batches(run, put, left):
    put(Event, *[event(number, 500) for number in range(1, 2502)])
    checks = []
    run.check = lambda: checks.append(1)

    assert 2500 == run("events", NOON)["events"]
    assert [2501] == left()
    assert len(checks) >= 4


def test_a_lost_lease_ends_the_deletion(run, put, left):
    put(Event, *[event(number, 500) for number in range(1, 2502)])
    left_over = iter([None, None])

    def check():
        if next(left_over, "lost") == "lost":
            raise LeaseLost

    run.check = check
    with pytest.raises(LeaseLost):
        run("events", NOON)

    assert 501 == len(left())


def test_runs_of_jobs_are_kept_for_90_days(run, put, left):
    def row(number, days, ended=True):
        at = NOON - timedelta(days=days)
        values = {"id": number, "name": "gone", "lane": "short", "epoch": 1, "holder": "h", "cause": "schedule"}
        return values | {"started_at": at, "ended_at": at if ended else None}

    put(JobRun, row(1, 91), row(2, 89), row(3, 91, ended=False))

    assert 1 == run("events", NOON)["job_runs"]
    assert [2, 3] == left(JobRun)


def client_run(number, incarnation, days):
    """Return the row of a run that a client reported some days ago."""
    values = {"id": number, "incarnation": incarnation, "at": NOON - timedelta(days=days), "outcome": "failed"}
    texts = dict.fromkeys(["reason", "error_output", "host", "client"], "")
    return values | texts | {"exit_statuses": [1], "actor": "5c1e9a7740d2"}


@pytest.fixture
def incarnation(services, by):
    """What the runs of a collection are kept with."""
    services.collections.create(CollectionChange(limits={}, filename="db.sql"), by=by)
    with services.database.reading() as session:
        return session.scalar(select(Collection.incarnation))


def test_runs_of_clients_are_kept_for_400_days_and_not_longer_than_their_collection(run, put, left, incarnation):
    put(Run, client_run(1, incarnation, 401), client_run(2, incarnation, 399), client_run(3, "gone", 1))

    assert 2 == run("events", NOON)["runs"]
    assert [2] == left(Run)


class TestForEver:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"events.keep": "0"}

    def test_with_0_events_are_kept_for_ever(self, run, put, left):
        put(Event, event(1, 5000))

        run("events", NOON)

        assert [1] == left()


def test_tags_that_no_file_has_are_deleted(services, run, upload, sender):
    kept = upload(b"kept", tags=["both", "kept"])
    gone = upload(b"gone", name="b.txt", tags=["both", *(f"gone{number}" for number in range(30))])
    services.files.delete(gone.file.stored_name, "", by=sender)

    summary = run("events", NOON)

    with services.database.reading() as session:
        assert {"both", "kept"} == set(session.scalars(select(Tag.name)))
    assert 30 == summary["tags"]
    assert {"both", "kept"} == set(services.files.find(kept.file.stored_name).tags)
