"""Evicted and deleted versions go into the trash, in the transaction that removes them."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import select

from frepo_core.db import utc_now
from frepo_core.db.models import File, TrashEntry
from frepo_core.errors import NotFoundError, StorageUnavailable
from frepo_core.services.upkeep.storage import SweepPlan, sweep, verify
from frepo_core.testing.faulty import Fail

WEEK = timedelta(days=7)


@pytest.mark.databases
def test_an_evicted_version_is_in_the_trash(services, make_collection, push, entries, numbers, sender):
    collection = make_collection(1)
    first = push(collection, b"first").version
    push(collection, b"second")

    (entry,) = services.trash.list(collection)
    assert numbers(collection) == [2]
    assert entries() == [(1, "evicted")]
    assert (first.number, 5, first.file.blob.digest) == (entry.number, entry.size, entry.digest)
    assert (first.created_at, sender.fingerprint) == (entry.created_at, entry.evicted_by)
    assert entry.ends_at == entry.evicted_at + WEEK
    assert utc_now() - entry.evicted_at < timedelta(minutes=1)


def test_its_stored_name_is_free_and_its_link_does_not_work(services, make_collection, push):
    collection = make_collection(1)
    first = push(collection, b"first").version.file
    push(collection, b"second")

    with pytest.raises(NotFoundError):
        services.files.find(first.stored_name)


def test_its_bytes_stay(services, make_collection, push, keys, blob_keys):
    collection = make_collection(1)
    for content in (b"first", b"second", b"third"):
        push(collection, content)
    services.versions.delete(collection, "v3")

    assert keys() == blob_keys()
    assert len(keys()) == 3


@pytest.mark.parametrize("uses", ["sweep", "verify", "file"])
def test_what_deletes_unused_bytes_counts_the_trash(services, make_collection, push, upload, sender, keys, uses):
    collection = make_collection(1)
    push(collection, b"first")
    if uses == "file":
        name = upload(b"first").file.stored_name
    push(collection, b"second")
    before = set(keys())

    if uses == "sweep":
        storage = services.backends.current
        grace = timedelta(0)
        report = sweep(
            services.database, services.backends, services.blobs, SweepPlan(storage=storage, grace=grace, most=9)
        )
        assert (0, 0) == (report.unused, report.orphans)
    elif uses == "verify":
        assert verify(services.database, services.backends).checked == 2
    else:
        services.files.delete(name, "", by=sender)

    assert before <= set(keys())


@pytest.mark.databases
def test_content_that_is_only_in_the_trash_is_used_again(make_collection, push, keys, entries):
    collection = make_collection(1)
    push(collection, b"first")
    push(collection, b"second")
    before = keys()

    push(collection, b"first")

    assert before == keys()
    assert entries() == [(1, "evicted"), (2, "evicted")]


def test_a_refused_version_moves_nothing(make_collection, push, entries, wrap, numbers):
    collection = make_collection(1)
    push(collection, b"first")
    wrap(Fail("store", nth=0))

    with pytest.raises(StorageUnavailable):
        push(collection, b"second")

    assert ([], [1]) == (entries(), numbers(collection))


def test_the_events_say_until_when_it_can_be_restored(services, make_collection, push, facts, sender):
    collection = make_collection(1)
    push(collection, b"first")
    push(collection, b"second")
    services.versions.delete(collection, "v2", by=sender)

    ends = [datetime.fromisoformat(facts(kind)[0][1]["ends_at"]) for kind in ("version.evicted", "version.deleted")]
    assert [entry.ends_at for entry in reversed(services.trash.list(collection))] == ends


class TestOff:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"trash.keep": "0"}

    def test_versions_are_deleted_with_their_bytes(self, services, make_collection, push, entries, keys, facts):
        collection = make_collection(1)
        push(collection, b"first")
        push(collection, b"second")
        services.versions.delete(collection, "v2")

        assert ([], []) == (entries(), keys())
        assert "ends_at" not in facts("version.evicted")[0][1]
        with services.database.reading() as session:
            assert session.scalars(select(File)).all() == []
            assert session.scalars(select(TrashEntry)).all() == []
