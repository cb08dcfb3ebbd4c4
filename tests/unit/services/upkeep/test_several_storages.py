"""Jobs, health checks and the doctor look at each storage of its own: one that fails does not stop the others."""

import os
import shutil
import time
from datetime import timedelta
from io import BytesIO

import pytest
from sqlalchemy import select, update

from frepo_core.db import utc_now
from frepo_core.db.models import StorageMark, StoredObject
from frepo_core.domain.naming import new_blob_key
from frepo_core.errors import BytesMissingError, StorageUnavailable
from frepo_core.features.doctor.data import check_storage
from frepo_core.services.content.storages.sweep_guard import Ownership
from frepo_core.testing import MemoryStorage

DAY = timedelta(days=1)


@pytest.fixture
def ini(ini, archive_settings):
    return ini | archive_settings | {"trash.keep": "7d", "trash.min_free": "1000"}


@pytest.fixture
def marked(services):
    for name in services.backends.configured:
        Ownership(services.database, services.backends).claim(name)


@pytest.fixture
def unmount(tmp_path):
    """Put an empty folder in place of the further storage."""

    def unmount():
        (tmp_path / "archive").rename(tmp_path / "disk")
        (tmp_path / "archive").mkdir()

    return unmount


@pytest.fixture
def make_orphan(services):
    """Store an old blob without a row in a storage; return its path."""

    def make_orphan(name):
        key, backend = new_blob_key("ab" * 32), services.backends.get(name)
        backend.store(key, BytesIO(b"orphan"), 6)
        old = time.time() - 3 * 86400
        os.utime(backend.path(key), (old, old))
        # The first mark is older.
        services.database.write(
            lambda session: session.execute(update(StorageMark).values(made_at=utc_now() - 30 * DAY))
        )
        return backend.path(key)

    return make_orphan


@pytest.fixture
def versions(make_collection, push):
    """Push five versions into each storage; return the last ones by its name."""

    def pushed(name):
        collection = make_collection(5, storage=name)
        return [push(collection, f"{number} in {name}".encode()) for number in range(5)][-1]

    return {name: pushed(name) for name in ("local", "archive")}


@pytest.mark.costly
def test_each_storage_is_swept(run, services, marked, versions, make_orphan):
    orphans = [make_orphan(name) for name in ("local", "archive")]

    report = run("sweep")

    assert (12, 2) == (report["blobs"], report["orphans"])
    assert [False, False] == [path.exists() for path in orphans]


def test_a_storage_that_cannot_be_swept_does_not_stop_the_others(run, marked, versions, make_orphan, tmp_path):
    orphan = make_orphan("archive")
    shutil.rmtree(tmp_path / "storage")
    (tmp_path / "storage").mkdir()

    with pytest.raises(Exception, match="The storage 'local'"):
        run("sweep")

    assert not orphan.exists()


def test_bytes_that_are_missing_are_named_with_their_storage(run, services, marked, versions):
    services.backends.get("archive").path(versions["archive"].version.file.blob.key).unlink()

    with pytest.raises(BytesMissingError, match="The storage 'archive' lacks the bytes of 1 records"):
        run("sweep")


def test_all_blobs_but_those_of_a_missing_storage_are_verified(run, services, marked, versions, unmount):
    services.database.write(lambda session: session.execute(update(StoredObject).values(read_at=utc_now() - 60 * DAY)))
    services.backends.get("local").path(versions["local"].version.file.blob.key).write_bytes(b"4 in lacol")
    unmount()

    with pytest.raises(StorageUnavailable, match="'archive' is not the one it was"):
        run("verify")

    with services.database.reading() as session:
        assert ["local"] == session.scalars(select(StoredObject.storage).where(StoredObject.state == "damaged")).all()


def test_the_trash_gives_room_in_the_storage_that_lacks_it(run, services, make_collection, push):
    services.backends._built["archive"] = MemoryStorage(2000)
    Ownership(services.database, services.backends).claim("archive")
    collections = [make_collection(1, storage=name) for name in (None, "archive")]
    for collection in collections:
        for number in range(4):
            push(collection, f"{number} of {collection}".encode().ljust(200))

    report = run("trash")

    assert (1, 200) == (report["early"], report["freed_early"])


def test_health_and_doctor_name_the_storage_that_fails(services, marked, versions, unmount):
    assert {"storage": (), "storage_archive": (), "trash_archive": ()}.items() <= services.health.run().items()
    unmount()

    found = services.health.run()
    assert () == found["storage"]
    assert "'archive' is not the one it was" in found["storage_archive"][0]
    [finding] = [one for one in check_storage(services, services.health.run) if "'archive' is not" in one.message]
    assert "the settings storage.archive.*" in finding.remedy


def test_uploads_to_the_others_work_while_a_storage_is_missing(
    services, marked, versions, unmount, make_collection, push
):
    unmount()

    push(make_collection(3), b"local")
    with pytest.raises(StorageUnavailable, match=r"correct the settings storage\.archive\.\*"):
        push(make_collection(3, storage="archive"), b"archive")
