"""Refused uploads of versions are events: one a minute for each token, collection and reason, with a count."""

import logging
import time
from datetime import timedelta
from io import BytesIO

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import Collection, Event
from frepo_core.domain.limits import COUNT, ONE, TOTAL
from frepo_core.domain.roles import Role
from frepo_core.errors import FrepoError, RuleError, StorageFull, VersionTooBigError
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.events import event_counts
from frepo_core.services.events.refusals import Refusals
from frepo_core.testing.faulty import Fail

ALERTING = "alert_when_backup_limit_reached"


@pytest.fixture
def refuse(services, sender):
    """Send a version that must be refused."""

    def refuse(collection, content=b"hello", by=None, **more):
        facts = services.collections.get(collection)
        with pytest.raises(FrepoError):
            services.add_version.add(facts, Incoming(stream=BytesIO(content), **more), by=by or sender)

    return refuse


@pytest.fixture
def small(make_collection, kinds):
    """A collection whose versions have at most 4 bytes."""
    collection = make_collection(limits={ONE: 4})
    kinds()
    return collection


@pytest.fixture
def full(make_collection, push, kinds):
    """A collection without room for another version."""
    collection = make_collection(1, strategy=ALERTING)
    push(collection, b"first")
    kinds()
    return collection


@pytest.fixture
def minute_later(services, monkeypatch):
    """Let all events, and what the process remembers of them, be a minute older."""

    def minute_later():
        now = time.monotonic
        monkeypatch.setattr(event_counts.time, "monotonic", lambda: now() + 61)
        older = update(Event).values(at=utc_now() - timedelta(seconds=61))
        services.database.write(lambda session: session.execute(older))

    return minute_later


def test_a_refusal_says_who_was_refused_what_and_why(small, sender, refuse, events):
    refuse(small)

    (event,) = events()
    assert ("version.refused", small, sender.fingerprint, "127.0.0.1") == (
        event.kind,
        event.collection_id,
        event.actor,
        event.address,
    )
    rule = VersionTooBigError()
    expected = {"reason": rule.text, "message": rule.explanation, "error": rule.number, "size": None, "count": 1}
    assert expected == event.data


def test_a_refusal_that_no_rule_makes_has_the_name_of_its_error(services, make_collection, identify, refuse, events):
    for restriction, more, reason in [
        ({"mimes": ["image/png"]}, {}, "type_not_allowed"),
        ({"max_file_size": 2}, {}, "too_big"),
        ({}, {"sha256": ("0" * 64,)}, "digest_mismatch"),
        ({}, {"content": b""}, "empty_content"),
    ]:
        collection, token = make_collection(), identify(Role.ADMINISTRATOR, **restriction)
        events()
        refuse(collection, by=token, **more)

        assert [reason] == [event.data["reason"] for event in events()]


def test_the_refusals_of_a_minute_are_one_event_with_their_count(small, refuse, events, minute_later):
    for _ in range(4):
        refuse(small)
    first = events()
    minute_later()
    refuse(small)

    assert [1] == [event.data["count"] for event in first]
    assert [4] == [event.data["count"] for event in events()]


def test_each_token_collection_and_reason_has_its_event(make_collection, full, small, identify, refuse, kinds):
    another = identify(Role.ADMINISTRATOR)
    kinds()
    refuse(small)
    refuse(small, by=another)
    refuse(small, b"")
    refuse(full)

    assert 4 == kinds().count("version.refused")


@pytest.mark.databases
def test_two_processes_write_one_event_a_minute(services, small, sender, refuse, events, minute_later):
    other = Refusals(services.database, is_read_only=False)
    refuse(small)
    other.record(small, VersionTooBigError(), by=sender)
    other.record(small, VersionTooBigError(), by=sender)
    first = events()
    minute_later()
    other.record(small, VersionTooBigError(), by=sender)

    assert [1] == [event.data["count"] for event in first]
    assert [3] == [event.data["count"] for event in events()]


def test_a_refusal_is_answered_if_its_event_cannot_be_written(small, services, sender, refuse, at_statement, caplog):
    def fail():
        raise RuntimeError("no events today")

    at_statement("INSERT INTO event", fail)
    with caplog.at_level(logging.ERROR), pytest.raises(RuleError):
        facts = services.collections.get(small)
        services.add_version.add(facts, Incoming(stream=BytesIO(b"hello")), by=sender)

    assert "a refused upload was not recorded as an event" in caplog.text


def test_a_refusal_that_was_not_written_is_counted_later(small, refuse, events, at_statement, minute_later):
    def fail():
        raise RuntimeError("no events today")

    at_statement("INSERT INTO event", fail)
    refuse(small)
    minute_later()
    refuse(small)

    assert [2] == [event.data["count"] for event in events()]


def test_an_upload_that_fails_is_no_refusal(make_collection, push, wrap, kinds):
    collection = make_collection()
    kinds()
    wrap(Fail("store"))
    with pytest.raises(FrepoError):
        push(collection, b"hello")

    assert "version.refused" not in kinds()


def is_full(services, collection):
    with services.database.reading() as session:
        return session.get(Collection, collection).full_since is not None


def test_a_collection_becomes_full_once(services, full, refuse, events, minute_later):
    refuse(full)
    first = events()
    minute_later()
    refuse(full)

    assert ["version.refused", "collection.full"] == [event.kind for event in first]
    assert {"versions": 1, "stored_size": 5}.items() <= first[1].data.items()
    assert ["version.refused"] == [event.kind for event in events()]
    assert is_full(services, full)


def test_an_accepted_version_ends_that_it_is_full(services, sender, full, refuse, push, kinds, minute_later):
    refuse(full)
    services.collections.edit(full, CollectionChange(limits={COUNT: 2}), by=sender)
    push(full, b"second")
    was_full = is_full(services, full)
    minute_later()
    kinds()
    refuse(full, b"third")

    assert not was_full
    assert ["version.refused", "collection.full"] == kinds()


def test_a_collection_without_room_for_the_size_is_full(make_collection, push, refuse, kinds):
    collection = make_collection(0, limits={ONE: 6, TOTAL: 9}, strategy=ALERTING)
    push(collection, b"123456")
    kinds()
    refuse(collection, b"hello")

    assert ["version.refused", "collection.full"] == kinds()


def test_a_version_that_is_larger_than_the_whole_collection_does_not_make_it_full(make_collection, refuse, kinds):
    collection = make_collection(0, limits={ONE: 0, TOTAL: 9})
    kinds()
    refuse(collection, b"0123456789")

    assert ["version.refused"] == kinds()


def test_an_upload_that_the_storage_has_no_room_for_makes_the_collection_full(
    services, make_collection, refuse, push, events, wrap
):
    collection = make_collection()
    events()
    storage = wrap(Fail("store", nth=0, error=lambda: StorageFull("The disk has no room left")))
    for _ in range(3):
        refuse(collection)
    refused, full = (event for event in events() if event.kind != "storage.full")
    state = services.collection_states.read([collection])[collection]
    storage.faults.clear()
    push(collection, b"there is room again")

    assert ("version.refused", "storage_full", 1) == (refused.kind, refused.data["reason"], refused.data["count"])
    assert ("collection.full", "storage_full") == (full.kind, full.data["reason"])
    assert ("full", True) == (state.state, state.reason.startswith("there is no room for a new version since"))
    assert "ok" == services.collection_states.read([collection])[collection].state


def test_a_collection_of_young_versions_is_full(make_collection, push, refuse, kinds):
    collection = make_collection(1, guards={"min_retention": timedelta(days=1)})
    push(collection, b"first")
    kinds()
    refuse(collection)

    assert ["version.refused", "collection.full"] == kinds()


def test_only_so_many_refusals_are_remembered(monkeypatch):
    monkeypatch.setattr(event_counts, "MAX_COUNTED", 3)
    counts = event_counts.Counts()

    assert [1] * 5 == [counts.take(("token", "collection", str(number))) for number in range(5)]
    assert (1, 0) == (counts.take(("token", "collection", "0")), counts.take(("token", "collection", "4")))
