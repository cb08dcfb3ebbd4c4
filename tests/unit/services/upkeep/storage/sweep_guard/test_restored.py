"""A database, or a storage, that was restored from a backup: what a sweep refuses."""

import shutil
import sqlite3
from datetime import timedelta
from io import BytesIO

import pytest

from frepo_core.plugins import partial_name
from frepo_core.services.base.installation import ensure_id
from frepo_core.services.upkeep.storage import (
    OwnerMark,
    StorageDisputedError,
)


@pytest.mark.parametrize("sweeps", [1, 5])
def test_a_database_restored_from_last_week_deletes_nothing(services, copied, add, backend, keys, sweeps, clean, marks):
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


def test_a_database_restored_from_before_its_first_mark_deletes_nothing(services, copied, orphan, clean):
    ensure_id(services.database)
    restored = copied(services)
    clean(services, grace=timedelta(days=9))

    with pytest.raises(StorageDisputedError):
        clean(restored)

    assert orphan()


def test_a_storage_that_was_emptied_is_refused(services, tmp_path, clean, marks):
    clean(services)
    shutil.rmtree(tmp_path / "storage")

    with pytest.raises(StorageDisputedError, match=r"epoch 1\) is missing: the storage was emptied"):
        clean(services)

    assert [] == marks(services)


def test_a_storage_that_was_exchanged_is_refused(services, neighbour, tmp_path, clean):
    clean(services)
    shutil.rmtree(tmp_path / "storage")
    clean(neighbour)

    with pytest.raises(StorageDisputedError, match=ensure_id(neighbour.database)):
        clean(services)


def test_a_storage_restored_from_a_backup_that_kept_old_marks_is_swept(services, orphan, clean, marks):
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


def test_a_restored_database_sweeps_after_it_has_adopted(services, copied, orphan, clean, marks, own):
    clean(services, grace=timedelta(days=9))
    restored = copied(services)
    clean(services, grace=timedelta(days=9))

    own(restored).adopt("local")
    clean(restored)

    assert orphan()  # it may be what the restored database has lost
    clean(restored, deletes_unknown=True)
    assert not orphan()
    assert [5] == [mark.epoch for mark in marks(restored)]
    with pytest.raises(StorageDisputedError):
        clean(services)
