import os
import time
from datetime import timedelta
from io import BytesIO

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import Blob, File
from frepo_core.domain.naming import fresh_key
from frepo_core.services.upkeep import Migrator, sweep

DAY = 86_400


@pytest.fixture
def clean(services):
    def clean(grace=timedelta(hours=48), **options):
        return sweep(services.database, services.storages, services.blobs, storage="local", grace=grace, **options)

    return clean


@pytest.fixture
def orphan(backend):
    """Store bytes that no row names, a number of days ago."""

    def orphan(key: str, days: float):
        backend.store(key, BytesIO(b"orphan"), 6)
        when = time.time() - days * DAY
        os.utime(backend.path(key), (when, when))

    return orphan


def test_old_bytes_without_a_row_go(clean, orphan, keys):
    orphan("ab/old", days=3)

    report = clean()

    assert (1, 6) == (report.orphans, report.orphan_size)
    assert [] == keys()


def test_young_bytes_may_belong_to_an_upload_and_stay(clean, orphan, keys):
    orphan("ab/young", days=1)

    report = clean()

    assert 0 == report.orphans
    assert ["ab/young"] == keys()


def test_bytes_with_a_row_stay_however_old(clean, add, path_of):
    path = path_of(add(b"content"))
    os.utime(path, (0, 0))

    clean(grace=timedelta())

    assert path.exists()


def test_a_dry_run_reports_and_removes_nothing(clean, orphan, keys):
    orphan("ab/old", days=3)

    report = clean(dry_run=True)

    assert 1 == report.orphans
    assert ["ab/old"] == keys()


def test_parts_of_puts_that_never_ended_go(clean, backend, add, path_of):
    part = path_of(add(b"content")).with_name(".partial-0123")
    part.write_bytes(b"half")
    os.utime(part, (0, 0))

    report = clean()

    assert 1 == report.leftovers
    assert not part.exists()


def test_a_row_whose_bytes_are_gone_is_reported_and_kept(clean, services, add, path_of):
    file = add(b"content")
    path_of(file).unlink()

    report = clean()

    assert [file.blob.key] == report.missing
    assert file.id == services.files.find(file.stored_name).id


def test_a_row_that_nothing_uses_goes_with_its_bytes(clean, services, add, keys):
    file = add(b"content")
    services.database.write(lambda session: session.delete(session.get(File, file.id)))

    report = clean(grace=utc_now() - utc_now())

    assert 1 == report.unused
    assert [] == keys()


def test_what_a_migration_left_in_its_source_stays_for_its_purge(services, clean, memory, add, keys):
    add(b"content")
    migrator = Migrator(services.database, services.storages, source="local", target="memory")
    migrator.run()

    report = clean(grace=timedelta())

    assert (0, 1) == (report.orphans, len(keys()))
    assert 1 == migrator.run(purge=True).purged


def test_a_copy_that_a_migration_did_not_finish_goes(services, memory, add):
    file = add(b"content")
    with services.database.engine.begin() as connection:
        connection.execute(update(Blob).values(created_at=utc_now() - timedelta(days=3)))
    memory.store(fresh_key(file.blob.digest), BytesIO(b"content"), 7)

    report = sweep(services.database, services.storages, services.blobs, storage="memory", grace=timedelta())

    assert (1, []) == (report.orphans, list(memory.list()))


def test_progress_is_told_for_each_key(clean, add, orphan):
    add(b"content")
    orphan("ab/old", days=3)
    told = []
    clean(progress=lambda *, done, total, size: told.append((done, total)))

    assert [(1, 1), (2, 1)] == told
