"""Several workers on one database: one leads, a dead or frozen leader is replaced, and no event is lost."""

import itertools
import signal
import time

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db.models import Event, Lease, Subscription
from frepo_core.domain.event_kinds import EventKind
from frepo_core.services.events.recording import NewEvent, record
from support.reliability import workers
from support.scale import IS_BIG
from support.servers.processes import freeze

# The true lease in the long form.
LEASE = 30.0 if IS_BIG else 3.0
COUNT = 4 if IS_BIG else 2
# A leader is replaced within 40 s if the lease has 30. A shorter lease leaves a busy machine no time, so it gets some.
TAKEOVER = LEASE * 4 / 3 + (0 if IS_BIG else 6)
every_database = pytest.mark.databases
# Only the long form tries the rest on every database.
some_databases = pytest.mark.databases(*([] if IS_BIG else ["sqlite"]))


@pytest.fixture
def happen(services):
    """Record events, of which on servers some become visible after events with higher ids; return how many."""
    overlap = services.database.engine.dialect.name != "sqlite"

    def happen(count):
        event = NewEvent(kind=EventKind.FILE_DELETED, by=None, data={"name": "a"})
        for _ in range(count):
            with Session(services.database.engine) as late:
                if overlap:
                    record(late, event)
                    late.flush()
                services.database.write(lambda session: record(session, event))
                if not overlap:
                    record(late, event)
                late.commit()
            time.sleep(0.02)

    return happen


def wait_for(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"after {seconds:.0f} s: {what}"
        time.sleep(0.1)
    return found


def leader(services):
    """Return the process number of the leader and its epoch; None if the lease is free."""
    with services.database.reading() as session:
        row = session.get(Lease, "worker")
        return (int(row.holder.split(":")[1]), row.epoch) if row and row.holder else None


def ids(services):
    with services.database.reading() as session:
        return set(session.scalars(select(Event.id)))


def position(services, name):
    with services.database.reading() as session:
        return session.get(Subscription, name).position


def handled(folder):
    return [line["id"] for line in workers.read(folder, "handled")]


def wait_until_handled(services, folder):
    wait_for(lambda: ids(services) <= set(handled(folder)), TAKEOVER + 20, "events are not delivered")


def other_leads(services, pid, epoch):
    found = leader(services)
    return found if found and found[0] != pid and found[1] > epoch else None


@pytest.fixture
def start(fork_server, services, database_url, tmp_path):
    return lambda: workers.running(fork_server, COUNT, database_url, tmp_path, LEASE)


def check_runs(folder):
    """Assert that no two runs of the job were at the same time."""
    runs = sorted(workers.read(folder, "runs"), key=lambda run: run["start"])
    assert runs
    assert [] == [later for former, later in itertools.pairwise(runs) if later["start"] < former["end"]]


@every_database
def test_without_a_crash_each_event_is_handled_once_and_in_order(start, services, tmp_path, happen):
    """Other subscribers fail and hang all the time."""
    with start():
        wait_for(lambda: leader(services), 20, "nobody leads")
        happen(30)
        wait_until_handled(services, tmp_path)
        wait_for(lambda: len(workers.read(tmp_path, "runs")) > 1, 20, "the job is not run again")
        epoch = leader(services)[1]

    lines = workers.read(tmp_path, "handled")
    assert 60 == len(lines)
    assert 1 == epoch
    assert list(range(1, 61)) == [line["position"] for line in lines]
    assert 1 == len({line["pid"] for line in lines})
    check_runs(tmp_path)


@some_databases
def test_a_leader_that_ends_as_usual_is_replaced_at_once_and_repeats_nothing(start, services, tmp_path, happen):
    with start() as processes:
        pid, epoch = wait_for(lambda: leader(services), 20, "nobody leads")
        happen(5)
        wait_until_handled(services, tmp_path)
        first = next(process for process in processes if process.pid == pid)
        first.send_signal(signal.SIGTERM)
        assert 0 == first.wait(60)
        wait_for(lambda: other_leads(services, pid, epoch), LEASE / 10 + 10, "nobody leads after a stop")
        happen(5)
        wait_until_handled(services, tmp_path)

    assert sorted(ids(services)) == sorted(handled(tmp_path))


@some_databases
def test_a_killed_leader_is_replaced_and_no_event_is_lost(start, services, tmp_path, happen):
    with start() as processes:
        pid, epoch = wait_for(lambda: leader(services), 20, "nobody leads")
        happen(5)
        next(process for process in processes if process.pid == pid).kill()
        killed = time.monotonic()
        happen(5)
        (new, _) = wait_for(lambda: other_leads(services, pid, epoch), TAKEOVER + 20, "a killed leader is not replaced")
        replaced = time.monotonic() - killed
        wait_for(lambda: new in {line["pid"] for line in workers.read(tmp_path, "handled")}, 20, "it delivers nothing")
        at_work = time.monotonic() - killed
        happen(5)
        wait_until_handled(services, tmp_path)

    assert replaced <= at_work <= TAKEOVER
    check_runs(tmp_path)


def freeze_without_lock(pid, services):
    """Freeze the process while this one writes: it must not hold the write lock of SQLite then."""
    with Session(services.database.engine) as session:
        record(session, NewEvent(kind=EventKind.FILE_DELETED, by=None, data={"name": "a"}))
        session.flush()
        freeze(pid)
        session.rollback()


@every_database
def test_a_frozen_leader_that_wakes_changes_nothing(start, services, tmp_path, happen):
    with start() as processes:
        pid, epoch = wait_for(lambda: leader(services), 20, "nobody leads")
        happen(5)
        wait_until_handled(services, tmp_path)
        frozen = next(process for process in processes if process.pid == pid)
        freeze_without_lock(pid, services)
        happen(5)
        new = wait_for(lambda: other_leads(services, pid, epoch), TAKEOVER, "a frozen leader is not replaced")
        happen(5)
        wait_until_handled(services, tmp_path)
        before = len(handled(tmp_path))
        frozen.send_signal(signal.SIGCONT)
        time.sleep(2)
        assert new == leader(services)
        happen(5)
        wait_until_handled(services, tmp_path)
        wait_for(lambda: position(services, "note") == len(ids(services)), 30, "the position is not saved")
        after = workers.read(tmp_path, "handled")[before:]

    assert {new[0]} == {line["pid"] for line in after}
    assert sorted({line["position"] for line in after}) == [line["position"] for line in after]
