"""A storage that fails is an event when that begins and when it ends, however many uploads and processes notice it."""

import logging
from datetime import timedelta

import pytest
from sqlalchemy import text

from frepo_core.domain.identity import Actor
from frepo_core.errors import FrepoError, StorageFull, StorageUnavailable
from frepo_core.services.content.storages import storage_troubles
from frepo_core.services.content.storages.storage_troubles import StorageStates
from frepo_core.testing.faulty import Fail

BY = Actor(name="system:test")
DOWN, FULL = StorageUnavailable("it is down"), StorageFull("no room")


@pytest.fixture
def states(services):
    return StorageStates(services.database)


@pytest.fixture
def later(monkeypatch):
    """Move the clocks of the states forward by some time, from the beginning of the test."""
    now, monotonic = storage_troubles.utc_now, storage_troubles.time.monotonic

    def later(length):
        monkeypatch.setattr(storage_troubles, "utc_now", lambda: now() + length)
        monkeypatch.setattr(storage_troubles.time, "monotonic", lambda: monotonic() + length.total_seconds())

    return later


def test_uploads_that_fail_are_one_event_until_one_succeeds(services, sender, upload, wrap, events):
    faulty = wrap(Fail("store", nth=0))
    events()
    for number in range(3):
        with pytest.raises(FrepoError):
            upload(b"fails %d" % number)
    faulty.faults.clear()
    upload(b"works")
    upload(b"works, too")

    failed, recovered, *added = events()
    assert ("storage.unavailable", "local", sender.fingerprint) == (failed.kind, failed.data["storage"], failed.actor)
    assert ("storage.recovered", "unavailable") == (recovered.kind, recovered.data["was"])
    assert ["file.added"] * 2 == [event.kind for event in added]


@pytest.mark.databases
def test_a_full_storage_is_an_event_with_its_problem(states, events):
    for _ in range(2):
        states.failed("local", FULL, by=BY, size=100)

    (event,) = events()
    assert ("storage.full", {"storage": "local", "problem": "no room"}) == (event.kind, event.data)


def test_a_full_storage_has_recovered_when_as_much_fits(states, kinds):
    states.failed("local", FULL, by=BY, size=100)
    states.failed("local", FULL, by=BY, size=50)
    states.worked("local", by=BY, size=49)
    before = kinds()
    states.worked("local", by=BY, size=50)

    assert ["storage.full"] == before
    assert ["storage.recovered"] == kinds()


def test_a_full_storage_has_recovered_when_anything_fits_an_hour_later(states, kinds, later):
    states.failed("local", FULL, by=BY, size=100)
    later(timedelta(minutes=59))
    states.worked("local", by=BY)
    before = kinds()
    later(timedelta(minutes=61))
    states.worked("local", by=BY)

    assert ["storage.full"] == before
    assert ["storage.recovered"] == kinds()


def test_another_failure_is_another_event(states, kinds):
    states.failed("local", FULL, by=BY, size=100)
    states.failed("local", DOWN, by=BY, size=100)
    states.failed("other", DOWN, by=BY, size=100)

    assert ["storage.full", "storage.unavailable", "storage.unavailable"] == kinds()


@pytest.mark.databases
def test_processes_share_the_states(services, states, kinds, later):
    other = StorageStates(services.database)
    other.worked("local", by=BY, size=1)
    states.failed("local", DOWN, by=BY)
    other.failed("local", DOWN, by=BY)
    later(timedelta(minutes=2))
    other.worked("local", by=BY)
    states.worked("local", by=BY)

    assert ["storage.unavailable", "storage.recovered"] == kinds()


def test_a_storage_that_works_costs_one_query_a_minute(states, services, at_statement, later):
    seen = []
    at_statement("SELECT installation", lambda: seen.append(1), nth=0)
    for _ in range(3):
        states.worked("local", by=BY, size=1)
    first = len(seen)
    later(timedelta(minutes=2))
    states.worked("local", by=BY, size=1)

    assert (1, 2) == (first, len(seen))


def test_the_health_check_records_the_state(services, storages, wrap, kinds):
    faulty = wrap(Fail("store", nth=0))
    services.health.run()
    failed = kinds()
    faulty.faults.clear()
    services.health.run()

    assert (["storage.unavailable"], ["storage.recovered"]) == (failed, kinds())


def test_an_error_while_recording_is_only_logged(services, states, caplog):
    with services.database.engine.begin() as connection:
        connection.execute(text("DROP TABLE installation"))
    with caplog.at_level(logging.ERROR):
        states.failed("local", DOWN, by=BY)

    assert "the state of the storage local was not recorded" in caplog.text


def test_nothing_is_recorded_in_read_only_mode(services, kinds):
    StorageStates(services.database, is_read_only=True).failed("local", DOWN, by=BY)

    assert [] == kinds()
