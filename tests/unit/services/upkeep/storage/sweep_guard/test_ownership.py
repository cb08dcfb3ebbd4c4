"""Whose storage is it: marks, epochs, and what a sweep refuses."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from frepo_core.db.models import Event
from frepo_core.domain.identity import Actor
from frepo_core.errors import StorageFull
from frepo_core.features.moves.migration import Migrator
from frepo_core.plugins import is_blob_key
from frepo_core.services.base.installation import ensure_id
from frepo_core.services.upkeep.storage import (
    Ownership,
    StorageDisputedError,
    find_marks,
)
from frepo_core.testing import Fail, FaultyStorage


@pytest.mark.databases
def test_each_sweep_raises_the_epoch_in_database_and_storage(services, orphan, clean, marks, own):
    epochs = []
    for _ in range(3):
        clean(services)
        epochs.append((own(services).current("local").epoch, [mark.epoch for mark in marks(services)]))

    assert [(1, [1]), (2, [2]), (3, [3])] == epochs
    assert not orphan()


def test_a_mark_names_the_database_and_is_neither_a_blob_nor_foreign(services, clean, marks):
    report = clean(services)

    [mark] = marks(services)
    assert ensure_id(services.database) == mark.database
    assert (0, 0) == (report.blobs, report.foreign)
    assert is_blob_key(mark.key)  # any storage accepts it, and tidies up its parts


def test_a_second_database_on_the_storage_stops_the_sweeps_of_both(services, neighbour, orphan, clean, own):
    clean(services, grace=timedelta(days=9))
    own(neighbour).claim("local")

    for each in (services, neighbour):
        with pytest.raises(
            StorageDisputedError, match=r"another database uses it.*frepo storage:adopt --storage local"
        ):
            clean(each)

    assert orphan()


@pytest.fixture
def events(services):
    """Return kind, actor and data of all events about storages."""

    def events():
        with services.database.reading() as session:
            rows = session.scalars(select(Event).where(Event.kind.like("storage.%")).order_by(Event.id))
            return [(row.kind, row.actor, row.data) for row in rows]

    return events


def test_a_dispute_and_its_acceptance_are_events(services, neighbour, events, clean, own):
    own(neighbour).claim("local")
    with pytest.raises(StorageDisputedError):
        clean(services, by=Actor(name="system:sweep"))

    Ownership(services.database, services.backends).adopt("local")

    [(disputed, job, data), (adopted, console, accepted)] = events()
    assert ("storage.disputed", "system:sweep", "storage.adopted") == (disputed, job, adopted)
    assert console.startswith("console:")
    assert "another database uses it" in data["problem"] == accepted["problem"]
    assert ("local", "local", 2) == (data["storage"], accepted["storage"], accepted["epoch"])


def test_a_second_database_that_was_never_marked_stops_at_its_first_sweep(services, neighbour, orphan, clean):
    clean(services, grace=timedelta(days=9))

    with pytest.raises(StorageDisputedError, match=ensure_id(services.database)):
        clean(neighbour)

    assert orphan()


def test_a_claim_is_made_once(services, marks, own):
    for _ in range(3):
        own(services).claim("local")

    assert [1] == [mark.epoch for mark in marks(services)]


def test_a_full_storage_is_swept_with_the_mark_that_it_has(services, orphan, clean, marks, own):
    own(services).claim("local")
    backend = services.backends.get("local")
    services.backends._built["local"] = FaultyStorage(backend, Fail("store", error=lambda: StorageFull("no room")))

    clean(services)

    assert not orphan()
    assert [1] == [mark.epoch for mark in marks(services)]


def test_a_full_storage_without_a_mark_is_not_swept(services, orphan, clean):
    backend = services.backends.get("local")
    services.backends._built["local"] = FaultyStorage(backend, Fail("store", error=lambda: StorageFull("no room")))

    with pytest.raises(StorageFull):
        clean(services)

    assert orphan()


def test_a_dry_run_reports_the_dispute_and_leaves_no_mark(services, neighbour, clean, marks):
    clean(services)

    report = clean(neighbour, dry_run=True)

    assert ensure_id(services.database) in report.dispute
    assert None is clean(services, dry_run=True).dispute
    assert 1 == len(marks(services))


def test_a_purge_after_a_migration_is_refused_like_a_sweep(services, neighbour, memory, add, keys, own):
    file = add(b"one")
    own(neighbour).claim("local")
    migrator = Migrator(services.database, services.backends, source="local", target="memory")

    with pytest.raises(StorageDisputedError):
        migrator.run(purge=True)

    assert [file.blob.key] == keys()


def test_a_migration_marks_its_target(services, memory):
    Migrator(services.database, services.backends, source="local", target="memory").run()

    assert [ensure_id(services.database)] == [mark.database for mark in find_marks(memory)]


def test_the_database_that_adopts_is_the_only_owner(services, neighbour, orphan, clean, own):
    clean(services, grace=timedelta(days=9))
    own(neighbour).claim("local")

    own(services).adopt("local")
    clean(services)

    assert orphan()
    with pytest.raises(StorageDisputedError):
        clean(neighbour)
