"""What is in the trash ends when its time is over, or when somebody with the role ends it."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import Version
from frepo_core.errors import NotFoundError
from frepo_core.services.backups.trash import expiry
from frepo_core.services.backups.versions.version_edits import VersionChange


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


@pytest.mark.databases
@pytest.mark.parametrize("is_older_left", [False, True])
def test_the_newest_good_version_stays_until_there_is_a_newer_one(
    services, make_collection, push, end, entries, is_older_left
):
    """As after an upgrade of a collection in which half dumps have replaced the good ones."""
    collection = make_collection(2)
    first = push(collection, b"first").version
    services.version_edits.edit(collection, first.id, VersionChange(pinned=is_older_left), by=None)
    for content in (b"second", b"third", b"fourth", b"fifth"):
        last = push(collection, content).version
    kept = entries()[-1]
    is_bad = Version.number > kept[0]
    services.database.execute(update(Version).where(is_bad).values(verdict="broken", condemned_at=last.created_at))

    end(days=8)

    assert [kept] == entries()
    end(days=8.5)
    assert [kept] == entries()
    push(collection, b"sixth")
    end(days=10)
    assert kept not in entries()


def test_one_that_a_person_has_deleted_ends(services, make_collection, push, end, entries, sender):
    collection = make_collection(2)
    for content in (b"first", b"second", b"third"):
        push(collection, content)
    for number in (2, 3):
        services.versions.delete(collection, f"v{number}", by=sender)

    end(days=8)

    assert [(1, "evicted")] == entries()
    services.collections.delete(collection, by=sender, with_versions=True)
    end(days=16)
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
