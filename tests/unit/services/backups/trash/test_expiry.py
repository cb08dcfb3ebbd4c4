"""What is in the trash ends when its time is over, or when somebody with the role ends it."""

from datetime import timedelta

import pytest

from frepo_core.db import utc_now
from frepo_core.errors import NotFoundError
from frepo_core.services.backups.trash import expiry


@pytest.fixture
def end(services):
    return lambda **later: expiry.end_expired(
        services.database, services.blobs, now=utc_now() + timedelta(**later), by=None, keep_going=lambda: None
    )


@pytest.mark.databases
def test_an_entry_ends_after_its_time_with_its_bytes(make_collection, push, end, entries, age, keys):
    collection = make_collection(1)
    push(collection, b"first")
    push(collection, b"second")
    age(days=3)
    push(collection, b"third")

    assert {"versions": 0, "collections": 0} == end(days=3)
    assert {"versions": 1, "collections": 0} == end(days=5)
    assert [(2, "evicted")] == entries()
    assert 2 == len(keys())


def test_bytes_that_others_use_stay(make_collection, push, upload, end, keys, entries):
    collection = make_collection(1)
    push(collection, b"first")
    upload(b"first")
    push(collection, b"second")

    end(days=8)

    assert ([], 2) == (entries(), len(keys()))


def test_many_entries_end_in_batches(make_collection, push, end, entries, monkeypatch):
    monkeypatch.setattr(expiry, "BATCH", 2)
    collection = make_collection(1)
    for number in range(6):
        push(collection, b"%d" % number)

    assert 5 == end(days=8)["versions"]
    assert [] == entries()


def test_its_event_says_that_its_time_was_over(make_collection, push, end, facts):
    collection = make_collection(1)
    push(collection, b"first")
    push(collection, b"second")

    end(days=8)

    ((number, data),) = facts("trash.ended")
    assert (1, "time", False, "evicted", 5) == (
        number,
        data["reason"],
        data["early"],
        data["removed"],
        data["size"],
    )


@pytest.mark.databases
def test_a_person_ends_one_entry_or_all(services, make_collection, push, sender, entries, keys, facts):
    collection, other = make_collection(1), make_collection(1)
    for number in range(4):
        push(collection, b"%d" % number)
        push(other, b"other %d" % number)

    assert 1 == services.trash.end(collection, 2, by=sender)
    with pytest.raises(NotFoundError):
        services.trash.end(collection, 2, by=sender)
    assert 2 == services.trash.end(collection, by=sender)

    assert 3 == len(entries())
    assert 5 == len(keys())
    assert [(2, True), (1, True), (3, True)] == [(number, data["early"]) for number, data in facts("trash.ended")]
