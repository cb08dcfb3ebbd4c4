"""A database of last night whose mark is still that of the storage deletes nothing before it was compared."""

import threading
from datetime import timedelta
from io import BytesIO

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import StoredObject, TrashEntry
from frepo_core.domain.naming import parse_digest_in_key
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.features.recovery.journal import journal
from frepo_core.services.backups.trash.expiry import end_expired
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.content.storages import journal_comparison
from frepo_core.services.upkeep.storage import (
    OwnerMark,
    Ownership,
    StorageDisputedError,
    SweepPlan,
    compare,
    sweep,
)


@pytest.fixture
def bytes_in(storage):
    """Return the keys of the objects in the storage."""
    return lambda: {key for stat in storage.list() if parse_digest_in_key(key := stat.key) and not OwnerMark.parse(key)}


@pytest.fixture
def collection(begun, services, make_collection, push, sender):
    """A collection with two versions, one of which is in the trash, as the backup of the database knows it."""
    collection = make_collection(9)
    push(collection, b"kept")
    push(collection, b"taken back")
    services.versions.delete(collection, "v2", by=sender)
    services.feature(RecoveryServices).journal.write_changes()
    return collection


@pytest.fixture
def restored(services, collection, back_up, sender):
    """The services over this backup: since then the version was taken out of the trash."""
    restore = back_up()
    services.trash.restore(collection, 2, by=sender)
    services.feature(RecoveryServices).journal.write_changes()
    return restore()


def end_trash(services):
    services.database.execute(update(TrashEntry).values(ends_at=utc_now() - timedelta(hours=1)))
    return end_expired(services.database, services.blobs, now=utc_now(), by=None, keep_going=lambda: None)


def supersede(services):
    values = {"state": "superseded", "slot": None, "since": utc_now(), "delete_after": utc_now()}
    services.database.execute(update(StoredObject).values(**values))


def test_the_trash_does_not_end(restored, bytes_in):
    assert 0 == end_trash(restored)["versions"]
    assert 2 == len(bytes_in())


def test_what_is_deleted_for_good_keeps_its_bytes(restored, collection, bytes_in, sender):
    restored.trash.end(collection, 2, by=sender)
    restored.versions.delete(collection, "v1", by=sender)
    restored.trash.end(collection, 1, by=sender)

    assert 2 == len(bytes_in())


def test_what_was_superseded_stays(restored, collection, bytes_in, sender):
    restored.trash.end(collection, 2, by=sender)
    supersede(restored)

    assert 0 == restored.blobs.gate.delete_due("local").objects
    assert 2 == len(bytes_in())


def test_what_the_backup_calls_unfinished_stays(restored, collection, bytes_in, sender):
    """It was finished since then; now its content is uploaded once more."""
    before = bytes_in()
    restored.database.execute(update(StoredObject).values(state="writing", read_at=None))

    facts = restored.collections.get(collection)
    restored.add_version.add(facts, Incoming(stream=BytesIO(b"kept")), by=sender)
    restored.blobs.gate.delete_due("local")

    assert before < bytes_in()


def test_the_room_of_the_trash_is_not_used(restored):
    assert 0 == restored.early_ending.give_way(1 << 20, by=None, reads=True).versions


def test_the_journal_then_lets_it_be_compared_with_the_storage(restored, bytes_in):
    end_trash(restored)
    restored.feature(RecoveryServices).journal.write_changes()

    assert 0 == end_trash(restored)["versions"]
    assert 2 == len(bytes_in())


def test_a_sweep_before_the_comparison_hides_nothing(restored, bytes_in):
    """It leaves a newer mark, and the journal goes on under that."""
    Ownership(restored.database, restored.backends).raise_epoch("local")

    assert 0 == end_trash(restored)["versions"]
    assert ["local"] == restored.feature(RecoveryServices).journal.write_changes().needing
    assert 0 == end_trash(restored)["versions"]
    assert 2 == len(bytes_in())


def test_a_database_that_knows_the_journal_deletes_at_once(services, collection, back_up, bytes_in):
    restored = back_up()()

    assert 1 == end_trash(restored)["versions"]
    assert 1 == len(bytes_in())


def test_a_storage_that_does_not_answer_is_asked_again(services, collection, back_up, bytes_in, storage, monkeypatch):
    restored = back_up()()
    moment = [0.0]
    monkeypatch.setattr(restored.backends.journals, "_monotonic", lambda: moment[0])
    away = storage._root.rename(storage._root.with_name("away"))

    assert 0 == end_trash(restored)["versions"]
    away.rename(storage._root)
    moment[0] += 61

    assert 1 == end_trash(restored)["versions"]
    assert 1 == len(bytes_in())


class TestWithoutAService:
    """No job notices that the journal is newer: the command does."""

    @pytest.fixture
    def clean(self, restored):
        def clean(**options):
            plan = SweepPlan(storage="local", grace=timedelta(hours=1), most=9, **options)
            return sweep(restored.database, restored.backends, restored.blobs, plan)

        return clean

    @pytest.fixture
    def due(self, restored):
        """What was superseded long ago, according to the backup of the database."""
        supersede(restored)

    def test_a_sweep_deletes_nothing_and_says_what_to_do(self, due, clean, bytes_in):
        with pytest.raises(StorageDisputedError, match=r"its journal has .*restored.* frepo storage:adopt") as refused:
            clean()

        assert clean(dry_run=True).dispute in refused.value.message
        assert 2 == len(bytes_in())

    def test_it_is_refused_until_the_storage_is_adopted(self, restored, due, clean, bytes_in):
        for _ in range(2):
            with pytest.raises(StorageDisputedError):
                clean()
        assert compare(restored.database, restored.backends, storage="local").problem

        Ownership(restored.database, restored.backends).adopt("local")

        assert None is clean(dry_run=True).dispute
        clean()
        assert 2 == len(bytes_in()), "what was about to be deleted stays for 30 days"

    def test_it_is_refused_until_the_journal_was_read_back(self, restored, due, clean, bytes_in):
        with restored.feature(RecoveryServices).merge("local", lambda text: None) as merging:
            merging.run(merging.find(), by=None)

        clean()
        assert 2 == len(bytes_in())

    def test_a_part_that_is_just_being_written_stops_nothing(self, services, collection, sender, monkeypatch):
        """The writer has stored it, and notes it now."""
        services.trash.restore(collection, 2, by=sender)
        stored, asked = threading.Event(), threading.Event()

        def hit(point):
            if point == "journal_stored":
                stored.set()
                assert asked.wait(60)

        def sleep(seconds):
            asked.set()
            writer.join(60)

        monkeypatch.setattr(journal, "hit", hit)
        monkeypatch.setattr(journal_comparison, "_sleep", sleep, raising=False)
        writer = threading.Thread(target=services.feature(RecoveryServices).journal.write_changes)
        writer.start()
        assert stored.wait(60)
        plan = SweepPlan(storage="local", grace=timedelta(hours=1))

        sweep(services.database, services.backends, services.blobs, plan)

        assert asked.is_set()
