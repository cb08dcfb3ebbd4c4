import os
import time
from dataclasses import replace
from datetime import timedelta
from io import BytesIO

import pytest
from sqlalchemy import update

from frepo_core.db import types, utc_now
from frepo_core.db.models import Content, File, StoredObject
from frepo_core.domain.naming import new_blob_key
from frepo_core.errors import SweepStoppedError
from frepo_core.features.moves.migration import Migrator
from frepo_core.plugins import partial_name
from frepo_core.services.upkeep.reconcile.reconciliation import reconcile_storage
from frepo_core.services.upkeep.storage import Ownership, SweepPlan, sweep
from frepo_core.services.upkeep.storage.progress import no_progress
from frepo_core.testing import FaultyStorage
from support.reliability.clock import clock_of

DAY = 86_400
OLD, YOUNG = new_blob_key("ab" * 32), new_blob_key("cd" * 32)


@pytest.fixture
def clean(services):
    def clean(grace=timedelta(hours=48), most=100, progress=no_progress, **options):
        plan = SweepPlan(storage="local", grace=grace, most=most, **options)
        return sweep(services.database, services.backends, services.blobs, plan, progress=progress)

    return clean


@pytest.fixture
def own(services):
    return Ownership(services.database, services.backends)


@pytest.fixture
def orphan(backend):
    """Store bytes without a row, dated a number of days ago."""

    def orphan(key: str, days: float):
        backend.store(key, BytesIO(b"orphan"), 6)
        when = time.time() - days * DAY
        os.utime(backend.path(key), (when, when))

    return orphan


@pytest.mark.databases
def test_old_bytes_without_a_row_are_deleted(clean, orphan, keys):
    orphan(OLD, days=3)

    report = clean()

    assert (1, 6) == (report.orphans, report.orphan_size)
    assert [] == keys()


@pytest.mark.databases
def test_young_bytes_are_kept_because_an_upload_may_need_them(clean, orphan, keys):
    orphan(YOUNG, days=1)

    assert 0 == clean().orphans
    assert [YOUNG] == keys()


@pytest.mark.databases
def test_bytes_with_a_row_are_kept_at_any_age(clean, add, path_of):
    path = path_of(add(b"content"))
    os.utime(path, (0, 0))

    clean(grace=timedelta())

    assert path.exists()


@pytest.mark.databases("postgresql")
def test_a_host_whose_clock_is_ahead_deletes_nothing_early(services, clean, add, orphan, keys, own, monkeypatch):
    """Times are those of the database's clock, which all hosts share."""
    orphan(OLD, days=3)
    own.adopt("local", keeps_unknown=True)
    reconcile_storage(services.database, services.backends, "local")
    unused = add(b"content")
    services.database.write(lambda session: session.delete(session.get(File, unused.id)))
    orphan(YOUNG, days=1)
    stored, right_time = keys(), time.time
    monkeypatch.setattr(types, "datetime", clock_of(lambda: right_time() + 40 * DAY))

    report = clean()

    assert (0, 0, 1) == (report.orphans, report.unused, report.kept)
    assert stored == keys()


@pytest.mark.parametrize("days", [-9, 9])
def test_a_storage_whose_clock_is_wrong_loses_nothing_young(services, backend, clean, orphan, keys, days):
    """Its clock is that of the mark that the sweep leaves."""

    class Wrong(FaultyStorage):
        def list(self):
            return (self._shift(stat) for stat in super().list())

        def stat(self, key):
            return self._shift(super().stat(key))

        def _shift(self, stat):
            return replace(stat, modified=stat.modified + timedelta(days=days))

    orphan(YOUNG, days=1)
    services.backends._built["local"] = Wrong(backend)

    assert 0 == clean().orphans
    assert [YOUNG] == keys()


def test_a_dry_run_reports_and_removes_nothing(clean, orphan, keys):
    orphan(OLD, days=3)

    assert 1 == clean(dry_run=True).orphans
    assert [OLD] == keys()


def test_old_temporary_files_are_deleted(clean, backend, add, path_of):
    part = path_of(add(b"content")).with_name(partial_name())
    part.write_bytes(b"half")
    os.utime(part, (0, 0))

    assert 1 == clean().leftovers
    assert not part.exists()


def test_a_row_with_missing_bytes_is_reported_and_kept(clean, services, add, path_of):
    file = add(b"content")
    clean()  # marks the storage
    path_of(file).unlink()

    report = clean()

    assert [file.blob.key] == report.missing
    assert file.id == services.files.find(file.stored_name).id


@pytest.mark.databases
def test_an_unused_row_is_deleted_with_its_bytes(clean, services, add, keys):
    file = add(b"content")
    services.database.write(lambda session: session.delete(session.get(File, file.id)))

    assert 1 == clean(grace=utc_now() - utc_now()).unused
    assert [] == keys()


def test_the_source_of_a_migration_is_kept_for_its_purge(services, clean, memory, add, keys):
    add(b"content")
    migrator = Migrator(services.database, services.backends, source="local", target="memory")
    migrator.run()

    assert (0, 1) == (clean(grace=timedelta()).orphans, len(keys()))
    assert 1 == migrator.run(purge=True).purged


def test_an_unfinished_copy_of_a_migration_is_deleted(services, memory, memory_keys, add):
    file = add(b"content")
    with services.database.engine.begin() as connection:
        connection.execute(update(Content).values(created_at=utc_now() - timedelta(days=3)))
    memory.store(new_blob_key(file.blob.digest), BytesIO(b"content"), 7)

    options = {"storage": "memory", "grace": timedelta(), "most": 1}
    report = sweep(services.database, services.backends, services.blobs, SweepPlan(**options))

    assert (1, []) == (report.orphans, memory_keys())


def test_the_last_sound_bytes_of_a_content_stay_although_no_row_named_them(services, memory, memory_keys, add, storage):
    file = add(b"content")
    with services.database.engine.begin() as connection:
        connection.execute(update(Content).values(created_at=utc_now() - timedelta(days=3)))
    memory.store(new_blob_key(file.blob.digest), BytesIO(b"content"), 7)
    storage.path(file.blob.key).write_bytes(b"CONTENT")

    options = {"storage": "memory", "grace": timedelta(), "most": 1}
    report = sweep(services.database, services.backends, services.blobs, SweepPlan(**options))

    assert (0, 1) == (report.orphans, len(memory_keys()))


def test_progress_is_reported_for_each_key(clean, add, orphan):
    add(b"content")
    orphan(OLD, days=3)
    told = []
    clean(progress=lambda *, done, total, size: told.append((done, total)))

    assert [(1, 1), (2, 1)] == told


FOREIGN = [
    "NOTES.txt",
    "other-app/2024/dump.sql.gz",
    "ab/README",
    "ab/" + "ab" * 32,  # no random part
    "cd/" + "ab" * 32 + "-" + "0" * 16,  # the folder of another digest
    "ab/" + "AB" * 32 + "-" + "0" * 16,
    "x/" + OLD,
    OLD + ".bak",
]


def test_foreign_files_are_kept_and_reported(clean, orphan, keys):
    for key in [*FOREIGN, OLD]:
        orphan(key, days=3)

    report = clean()

    assert sorted(FOREIGN) == keys()
    assert (1, 1, len(FOREIGN)) == (report.blobs, report.orphans, report.foreign)
    assert sorted(FOREIGN) == sorted(report.foreign_examples)


def test_unprintable_names_of_foreign_files_are_escaped(clean, tmp_path, add):
    add(b"content")
    (tmp_path / "storage" / "caf\udce9\x1b[2J").write_bytes(b"latin")

    assert ["caf\\udce9\\x1b[2J"] == clean().foreign_examples


@pytest.mark.parametrize(("orphans", "stops"), [(1, False), (2, True)])
def test_a_sweep_that_would_delete_more_than_a_fifth_stops(clean, orphan, add, keys, orphans, stops):
    for number in range(4):
        add(b"%d" % number)
    for _ in range(orphans):
        orphan(new_blob_key("ab" * 32), days=3)
    before = keys()

    if stops:
        with pytest.raises(SweepStoppedError, match=r"2 of 6 blobs .*--yes-delete 2"):
            clean(most=None)
    else:
        clean(most=None)

    assert len(before) - (0 if stops else orphans) == len(keys())


def test_unused_rows_count_as_deletions(clean, services, add, keys):
    file = add(b"content")
    services.database.write(lambda session: session.delete(session.get(File, file.id)))

    with pytest.raises(SweepStoppedError):
        clean(grace=timedelta(), most=None)

    assert [file.blob.key] == keys()


def test_a_sweep_that_would_delete_more_than_confirmed_stops(clean, orphan, keys):
    for key in (OLD, YOUNG):
        orphan(key, days=3)

    with pytest.raises(SweepStoppedError):
        clean(most=1)

    assert 2 == len(keys())


@pytest.mark.databases
def test_a_blob_whose_row_is_added_during_the_listing_is_kept(clean, services, orphan, add, keys):
    orphan(OLD, days=3)

    def take_over(**_):
        def work(session):
            content = Content(digest="ab" * 32, size=6, mime="text/plain", created_at=utc_now())
            session.add(content)
            session.flush()
            of_content = {"content_id": content.id, "digest": content.digest, "size": 6}
            place = {"storage": "local", "key": OLD, "state": "present", "slot": 1, "since": utc_now()}
            session.add(StoredObject(**of_content, **place))

        services.database.write(work)

    assert (0, [OLD]) == (clean(progress=take_over).orphans, keys())


def test_what_is_stored_while_the_storage_is_listed_is_not_missing(services, upload):
    upload(b"before")
    during = []

    def note(text):
        if text.endswith("listed") and not during:
            during.append(upload(b"meanwhile"))

    found = reconcile_storage(services.database, services.backends, "local", notes=note)

    assert (1, 0) == (len(during), found.missing)
