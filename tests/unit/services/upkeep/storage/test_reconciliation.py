"""After an adoption, nothing is deleted that the records of a restored database do not know or know no more."""

from datetime import timedelta
from io import BytesIO

import pytest
from sqlalchemy import select, update

from frepo_core.db import utc_now
from frepo_core.db.models import Installation, StoredObject, TrashEntry
from frepo_core.services.backups.trash.expiry import end_expired
from frepo_core.services.content.blobs.blob_write import BlobWrite
from frepo_core.services.content.objects.found_objects import FoundObjects
from frepo_core.services.content.storages.kept_blobs import RECONCILE
from frepo_core.services.upkeep.reconcile.reconciliation import is_reconciled, reconcile_storage
from frepo_core.services.upkeep.storage import find_marks
from support.encodings.nights import nights
from support.encodings.stored import StoredBlobs


@pytest.fixture
def ini(ini, tmp_path):
    second = {"storage.second.adapter": "local", "storage.second.directory": str(tmp_path / "second")}
    return ini | second | {"storages": "second", "mirror": "second", "mirror.rate": "0"}


@pytest.fixture
def objects(services):
    """Return the rows in a storage, the oldest first."""

    def objects(storage="local"):
        with services.database.reading() as session:
            rows = select(StoredObject).where(StoredObject.storage == storage)
            return session.scalars(rows.order_by(StoredObject.id)).all()

    return objects


@pytest.fixture
def change(services):
    def change(row, **values):
        services.database.execute(update(StoredObject).where(StoredObject.id == row.id).values(**values))

    return change


@pytest.fixture
def freeze(services):
    """Do what an adoption does: both storages are to be reconciled."""

    def freeze(*storages):
        rows = [Installation(name=RECONCILE + name, value=utc_now().isoformat()) for name in storages]
        services.database.write(lambda session: session.add_all(rows))

    return freeze


@pytest.fixture
def reconcile(services):
    def reconcile(*storages):
        return [reconcile_storage(services.database, services.backends, name) for name in storages]

    return reconcile


def stored(services, storage):
    return [stat.key for stat in services.backends.get(storage).list()]


def test_a_copy_that_the_records_call_unfinished_stays(
    services, make_collection, push, run, objects, change, freeze, reconcile
):
    """It was finished after the backup of the database, and its content is stored once more before the comparison."""
    push(make_collection(), b"one")
    run("mirror")
    [copy] = objects("second")
    change(copy, state="writing", read_at=None)
    freeze("local", "second")

    push(make_collection(storage="second", mirror="none"), b"one")
    services.blobs.gate.delete_due("second")
    assert copy.key in stored(services, "second")
    reconcile("local", "second")
    services.blobs.gate.delete_due("second")

    assert copy.key in stored(services, "second")
    assert {"found", "superseded"} >= {row.state for row in objects("second") if row.id == copy.id}


def test_a_copy_that_the_records_call_unfinished_is_found(
    services, make_collection, push, run, objects, change, freeze, reconcile
):
    push(make_collection(), b"one")
    run("mirror")
    [copy] = objects("second")
    change(copy, state="writing", read_at=None)
    freeze("local", "second")

    reconcile("local", "second")

    assert [("present", 1, copy.key)] == [(row.state, row.slot, row.key) for row in objects("second")]


def test_what_was_ending_is_kept_after_the_comparison(
    services, make_collection, push, objects, freeze, reconcile, change
):
    collection, contents = make_collection(), list(nights(2, 500))
    for content in contents:
        push(collection, content)
    StoredBlobs(services).encode(*contents)
    [old] = [row for row in objects() if row.state == "superseded"]
    change(old, delete_after=utc_now() - timedelta(hours=1))
    freeze("local", "second")

    reconcile("local", "second")

    assert 0 == services.blobs.gate.delete_due("local").objects
    [old] = [row for row in objects() if row.state == "superseded"]
    assert old.delete_after > utc_now() + timedelta(days=29)


def test_a_storage_without_its_mark_is_not_taken_as_compared(services, upload, objects, freeze, reconcile, run):
    upload(b"one")
    run("mirror")
    freeze("local", "second")
    second = services.backends.get("second")
    for mark in find_marks(second):
        second.delete(mark.key)

    reconcile("local", "second")

    assert (True, False) == tuple(is_reconciled(services.database, name) for name in ("local", "second"))
    assert ["present"] == [row.state for row in objects("second")]


def test_an_upload_whose_bytes_were_recorded_meanwhile_stores_them_again(
    services, upload, objects, monkeypatch, storage
):
    store, left = BlobWrite._store, [True]

    def store_and_find(self):
        store(self)
        if left:
            left.pop()
            found = [stat for stat in storage.list() if stat.key == self._key]
            FoundObjects(services.database, services.backends).register("local", found, keeps=timedelta(days=30))

    monkeypatch.setattr(BlobWrite, "_store", store_and_find)
    added = upload(b"one")

    assert added.file.blob.digest == objects()[0].digest
    assert ["found", "present"] == [row.state for row in objects()]
    assert {row.key for row in objects()} <= set(stored(services, "local"))


def test_how_bytes_are_stored_that_an_upgrade_has_found_is_read(
    services, make_collection, push, objects, change, freeze, reconcile
):
    collection, contents = make_collection(), list(nights(2, 500))
    for content in contents:
        push(collection, content)
    blobs = StoredBlobs(services)
    blobs.encode(*contents)
    new = blobs.row(contents[0])
    blobs.expand(contents[0])
    change(new, state="found", encoding="unknown", stored_digest=None, base_digest=None)
    freeze("local", "second")

    reconcile("local", "second")

    [row] = [row for row in objects() if row.id == new.id]
    about = row.state, row.encoding, row.base_digest, row.stored_digest
    assert ("found", "delta", new.base_digest, new.stored_digest) == about
    assert row.delete_after > utc_now() + timedelta(days=29)


def test_bytes_that_are_not_what_their_key_says_stay_unclear(services, upload, objects, change, freeze, reconcile):
    added = upload(b"one")
    key = added.file.blob.key
    cut = key[:-1] + ("0" if key[-1] != "0" else "1")
    services.backends.get("local").store(cut, BytesIO(b"o"), 1)

    freeze("local", "second")
    reconcile("local", "second")

    assert ["present", "found"] == [row.state for row in objects()]
    assert ["raw", "unknown"] == [row.encoding for row in objects()]


def test_the_trash_does_not_end_before_the_comparison_nor_at_once_after_it(
    services, make_collection, push, freeze, reconcile
):
    collection = make_collection(1)
    push(collection, b"first")
    push(collection, b"second")
    services.database.execute(update(TrashEntry).values(ends_at=utc_now() - timedelta(hours=1)))
    freeze("local", "second")

    def end():
        clock = {"now": utc_now(), "by": None, "keep_going": lambda: None}
        return end_expired(services.database, services.blobs, **clock)["versions"]

    assert 0 == end()
    reconcile("local")
    assert 0 == end()
    reconcile("second")

    with services.database.reading() as session:
        assert utc_now() + timedelta(hours=47) < session.scalar(select(TrashEntry.ends_at))
    assert 0 == end()
