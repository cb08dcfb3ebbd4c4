"""Whose storage is it: marks, epochs, and what a sweep refuses."""

import os
import shutil
import sqlite3
import time
from contextlib import closing
from datetime import timedelta
from io import BytesIO
from pathlib import Path

import pytest
from sqlalchemy import select

from frepo_core.db.models import Event
from frepo_core.domain.identity import Actor
from frepo_core.domain.naming import new_blob_key
from frepo_core.errors import StorageFull
from frepo_core.plugins import is_blob_key, partial_name
from frepo_core.services.blobs.failpoints import SWEEP_POINTS
from frepo_core.services.installation import ensure_id
from frepo_core.services.maintenance import (
    Migrator,
    OwnerMark,
    Ownership,
    StorageDisputedError,
    find_marks,
    ownership,
    read_index,
    sweep,
)
from frepo_core.testing import Fail, FaultyStorage

ORPHAN = new_blob_key("ab" * 32)


def clean(services, **options):
    options = {"storage": "local", "grace": timedelta(hours=48), "most": 100} | options
    return sweep(services.database, services.backends, services.blobs, **options)


def marks(services):
    return find_marks(services.backends.get("local"))


def own(services):
    return Ownership(services.database, services.backends)


@pytest.fixture
def orphan(backend):
    """Store an old blob without a row; return a function that says whether it still exists."""
    backend.store(ORPHAN, BytesIO(b"orphan"), 6)
    path = backend.path(ORPHAN)
    os.utime(path, (time.time() - 3 * 86_400,) * 2)
    return path.exists


@pytest.fixture
def neighbour(open_services, ini, tmp_path):
    """Another service with a database of its own, which uses the same storage by mistake."""
    (tmp_path / "neighbour").mkdir()
    services = open_services(tmp_path / "neighbour", ini)
    yield services
    services.database.engine.dispose()


@pytest.fixture
def copied(open_services, ini, tmp_path):
    """Copy the SQLite database of a service; return a service with the copy."""
    made = []

    def copy(services):
        folder = tmp_path / f"copy-{len(made)}"
        folder.mkdir()
        copy = open_services(folder, ini)
        with (
            closing(sqlite3.connect(Path(services.database.engine.url.database))) as source,
            closing(sqlite3.connect(folder / "frepo.db")) as target,
        ):
            source.backup(target)
        made.append(copy)
        return copy

    yield copy
    for services in made:
        services.database.engine.dispose()


@pytest.mark.databases
def test_each_sweep_raises_the_epoch_in_database_and_storage(services, orphan):
    epochs = []
    for _ in range(3):
        clean(services)
        epochs.append((own(services).current("local").epoch, [mark.epoch for mark in marks(services)]))

    assert [(1, [1]), (2, [2]), (3, [3])] == epochs
    assert not orphan()


def test_a_mark_names_the_database_and_is_neither_a_blob_nor_foreign(services):
    report = clean(services)

    [mark] = marks(services)
    assert ensure_id(services.database) == mark.database
    assert (0, 0) == (report.blobs, report.foreign)
    assert is_blob_key(mark.key)  # any storage accepts it, and tidies up its parts
    assert 0 == read_index(services.database, services.backends.get("local"), storage="local").keys


def test_a_second_database_on_the_storage_stops_the_sweeps_of_both(services, neighbour, orphan):
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


def test_a_dispute_and_its_acceptance_are_events(services, neighbour, events):
    own(neighbour).claim("local")
    with pytest.raises(StorageDisputedError):
        clean(services, by=Actor(name="system:sweep"))

    Ownership(services.database, services.backends).adopt("local")

    [(disputed, job, data), (adopted, console, accepted)] = events()
    assert ("storage.disputed", "system:sweep", "storage.adopted") == (disputed, job, adopted)
    assert console.startswith("console:")
    assert "another database uses it" in data["problem"] == accepted["problem"]
    assert ("local", "local", 2) == (data["storage"], accepted["storage"], accepted["epoch"])


def test_a_second_database_that_was_never_marked_stops_at_its_first_sweep(services, neighbour, orphan):
    clean(services, grace=timedelta(days=9))

    with pytest.raises(StorageDisputedError, match=ensure_id(services.database)):
        clean(neighbour)

    assert orphan()


@pytest.mark.parametrize("sweeps", [1, 5])
def test_a_database_restored_from_last_week_deletes_nothing(services, copied, add, backend, keys, sweeps):
    clean(services)
    restored = copied(services)
    for _ in range(sweeps):
        clean(services)
    partial = backend.path(add(b"of this week").blob.key).with_name(partial_name())
    partial.write_bytes(b"half")
    before = keys()

    with pytest.raises(StorageDisputedError) as caught:
        clean(restored, grace=timedelta())

    assert f"its epoch is {1 + sweeps}, that of this database is 1" in caught.value.message
    assert "frepo storage:adopt" in caught.value.message
    assert before == keys()
    assert partial.exists()
    assert 1 == len(marks(services))  # the restored database has not marked the storage anew


def test_a_database_restored_from_before_its_first_mark_deletes_nothing(services, copied, orphan):
    ensure_id(services.database)
    restored = copied(services)
    clean(services, grace=timedelta(days=9))

    with pytest.raises(StorageDisputedError):
        clean(restored)

    assert orphan()


def test_two_copies_of_a_database_that_sweep_at_the_same_time_find_each_other(services, copied):
    clean(services)
    copy = copied(services)
    own(services).raise_epoch("local")
    own(copy).raise_epoch("local")

    found = marks(services)

    assert [1, 2, 2] == [mark.epoch for mark in found]
    for each in (services, copy):
        with pytest.raises(StorageDisputedError, match="copied"):
            own(each).confirm("local", found)


def test_a_storage_that_was_emptied_is_refused(services, tmp_path):
    clean(services)
    shutil.rmtree(tmp_path / "storage")

    with pytest.raises(StorageDisputedError, match=r"epoch 1\) is missing: the storage was emptied"):
        clean(services)

    assert [] == marks(services)


def test_a_storage_that_was_exchanged_is_refused(services, neighbour, tmp_path):
    clean(services)
    shutil.rmtree(tmp_path / "storage")
    clean(neighbour)

    with pytest.raises(StorageDisputedError, match=ensure_id(neighbour.database)):
        clean(services)


def test_a_storage_restored_from_a_backup_that_kept_old_marks_is_swept(services, orphan):
    backend = services.backends.get("local")
    for _ in range(3):
        clean(services, grace=timedelta(days=9))
    for epoch, nonce in sqlite3.connect(services.database.engine.url.database).execute(
        "SELECT epoch, nonce FROM storage_mark WHERE epoch < 3"
    ):
        backend.store(OwnerMark(database=ensure_id(services.database), epoch=epoch, nonce=nonce).key, BytesIO(b"{}"), 2)

    clean(services)

    assert [4] == [mark.epoch for mark in marks(services)]
    assert not orphan()


class KilledError(BaseException):
    """Stands for SIGKILL: nothing handles it."""


@pytest.mark.parametrize("sweeps_before", [0, 1, 2])
@pytest.mark.parametrize("point", SWEEP_POINTS)
def test_a_sweep_that_was_killed_at_any_point_is_followed_by_one_that_works(
    services, orphan, monkeypatch, point, sweeps_before
):
    def die(hit):
        if hit == point:
            raise KilledError

    for _ in range(sweeps_before):
        clean(services, grace=timedelta(days=9))
    with monkeypatch.context() as patch:
        patch.setattr(ownership, "hit", die)
        for _ in range(2):  # twice at the same point
            try:
                clean(services, grace=timedelta(days=9))
            except KilledError:
                pass
    assert orphan()

    clean(services)

    assert not orphan()
    assert [own(services).current("local")] == marks(services)


@pytest.mark.databases
def test_sweeps_of_one_database_at_the_same_time_do_not_refuse_each_other(services, at_once):
    clean(services)

    results = at_once(lambda _: clean(services), range(4))

    assert [] == [result for result in results if isinstance(result, Exception)]
    assert own(services).current("local") in marks(services)
    clean(services)
    assert [own(services).current("local")] == marks(services)


@pytest.mark.databases
def test_processes_that_claim_at_the_same_time_do_not_refuse_each_other(services, at_once):
    assert [None] * 4 == at_once(lambda _: own(services).claim("local"), range(4))

    clean(services)

    assert 1 == len(marks(services))


def test_a_claim_is_made_once(services):
    for _ in range(3):
        own(services).claim("local")

    assert [1] == [mark.epoch for mark in marks(services)]


def test_a_full_storage_is_swept_with_the_mark_that_it_has(services, orphan):
    own(services).claim("local")
    backend = services.backends.get("local")
    services.backends._built["local"] = FaultyStorage(backend, Fail("store", error=lambda: StorageFull("no room")))

    clean(services)

    assert not orphan()
    assert [1] == [mark.epoch for mark in marks(services)]


def test_a_full_storage_without_a_mark_is_not_swept(services, orphan):
    backend = services.backends.get("local")
    services.backends._built["local"] = FaultyStorage(backend, Fail("store", error=lambda: StorageFull("no room")))

    with pytest.raises(StorageFull):
        clean(services)

    assert orphan()


def test_a_dry_run_reports_the_dispute_and_leaves_no_mark(services, neighbour):
    clean(services)

    report = clean(neighbour, dry_run=True)

    assert ensure_id(services.database) in report.dispute
    assert None is clean(services, dry_run=True).dispute
    assert 1 == len(marks(services))


def test_a_purge_after_a_migration_is_refused_like_a_sweep(services, neighbour, memory, add, keys):
    file = add(b"one")
    own(neighbour).claim("local")
    migrator = Migrator(services.database, services.backends, source="local", target="memory")

    with pytest.raises(StorageDisputedError):
        migrator.run(purge=True)

    assert [file.blob.key] == keys()


def test_a_migration_marks_its_target(services, memory):
    Migrator(services.database, services.backends, source="local", target="memory").run()

    assert [ensure_id(services.database)] == [mark.database for mark in find_marks(memory)]


def test_the_database_that_adopts_is_the_only_owner(services, neighbour, orphan):
    clean(services, grace=timedelta(days=9))
    own(neighbour).claim("local")

    own(services).adopt("local")
    clean(services)

    assert not orphan()
    with pytest.raises(StorageDisputedError):
        clean(neighbour)


def test_a_restored_database_sweeps_after_it_has_adopted(services, copied, orphan):
    clean(services, grace=timedelta(days=9))
    restored = copied(services)
    clean(services, grace=timedelta(days=9))

    own(restored).adopt("local")
    clean(restored)

    assert not orphan()
    assert [4] == [mark.epoch for mark in marks(restored)]
    with pytest.raises(StorageDisputedError):
        clean(services)
