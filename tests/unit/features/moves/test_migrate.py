from errno import EIO
from io import BytesIO

import pytest
import xxhash
from sqlalchemy import update

from frepo_core.db.models import Content
from frepo_core.features.moves.migration import Migrator
from frepo_core.plugins import StorageUnavailable
from frepo_core.services.upkeep.storage import verify
from frepo_core.testing import Fail, FaultyStorage, Truncate


@pytest.fixture
def migrator(services, memory):
    return lambda: Migrator(services.database, services.backends, source="local", target="memory")


@pytest.fixture
def read(services):
    """Read a file's content as a download does."""

    def read(file):
        with services.stored_content.open(services.files.find(file.stored_name).blob) as blob:
            return blob.read()

    return read


@pytest.mark.databases
def test_every_blob_is_moved_and_served_from_the_target(services, migrator, add, read):
    files = [add(text) for text in (b"one", b"two")]

    report = migrator().run()

    assert (2, 6, []) == (report.moved, report.size, report.failed)
    assert [b"one", b"two"] == [read(file) for file in files]
    assert {"memory"} == {services.files.find(file.stored_name).blob.storage for file in files}


@pytest.mark.parametrize("before", [None, "0" * 32], ids=["none", "wrong"])
def test_a_moved_blob_has_the_checksum_of_the_copy_that_was_read_back(services, migrator, add, read, before):
    file = add(b"one")
    services.database.write(lambda session: session.execute(update(Content).values(checksum=before)))

    migrator().run()

    assert xxhash.xxh3_128(b"one").hexdigest() == services.files.find(file.stored_name).blob.checksum
    assert b"one" == read(file)


def test_the_source_keeps_its_bytes_until_it_is_purged(migrator, add, keys):
    file = add(b"one")
    migrator().run()

    before = keys()
    report = migrator().run(purge=True)

    assert [file.blob.key] == before
    assert 1 == report.purged
    assert [] == keys()


@pytest.mark.databases
def test_a_purge_keeps_blobs_that_were_not_moved(migrator, add, keys, path_of):
    file = add(b"one")
    path_of(file).write_bytes(b"two")

    report = migrator().run(purge=True)

    assert [file.blob.key] == keys()
    assert [f"{file.blob.key}: its content is not what was stored"] == report.failed


def test_a_purge_keeps_blobs_that_are_damaged_in_the_target(services, migrator, memory, add, keys):
    file = add(b"one")
    migrator().run()
    for stat in memory.list():
        memory.store(stat.key, BytesIO(b"two"), 3)
    verify(services.database, services.backends)

    assert 0 == migrator().run(purge=True).purged
    assert [file.blob.key] == keys()


def test_a_good_copy_is_served_although_its_source_was_damaged(services, migrator, add, path_of):
    file = add(b"one")
    path_of(file).write_bytes(b"two")
    verify(services.database, services.backends)
    path_of(file).write_bytes(b"one")  # restored from the backup

    migrator().run()

    assert not services.files.find(file.stored_name).blob.is_damaged


def test_a_damaged_blob_is_not_moved_and_the_others_are(migrator, add, path_of):
    path_of(add(b"short one")).write_bytes(b"short")
    add(b"sound")

    report = migrator().run()

    assert (1, 1) == (report.moved, len(report.failed))


def test_an_unreadable_blob_is_not_moved_and_the_others_are(migrator, add, keys, spoil):
    file = add(b"one")
    add(b"two")
    spoil(file)

    report = migrator().run(purge=True)

    assert 1 == report.moved
    assert [f"{file.blob.key}: it cannot be read: [Errno {EIO}] bad"] == report.failed
    assert [file.blob.key] == keys()


def test_a_wrong_copy_is_not_counted_as_moved(services, migrator, memory, memory_keys, add, read):
    file = add(b"some content")
    services.backends.get("memory")
    services.backends._built["memory"] = FaultyStorage(memory, Truncate("store", nth=1, after=4))

    assert 0 == migrator().run().moved
    assert b"some content" == read(file)
    assert [] == memory_keys()


@pytest.mark.costly
@pytest.mark.databases
def test_an_interrupted_migration_can_be_resumed(services, migrator, memory, memory_keys, add):
    for text in (b"one", b"two", b"three"):
        add(text)
    services.backends.get("memory")
    services.backends._built["memory"] = FaultyStorage(memory, Fail("store", nth=2))
    with pytest.raises(StorageUnavailable):
        migrator().run()

    services.backends._built["memory"] = memory
    assert 2 == migrator().run().moved
    assert 3 == len(memory_keys())


@pytest.fixture
def first():
    """Return a progress callback that calls a function after the first blob."""
    return lambda do: lambda done, **_: do() if done == 1 else None


def test_a_blob_that_is_deleted_during_the_migration_is_not_a_failure(services, migrator, add, by, first):
    add(b"one")
    file = add(b"two")

    report = migrator().run(progress=first(lambda: services.files.delete(file.stored_name, "", by=by)))

    assert (1, []) == (report.moved, report.failed)


@pytest.mark.databases
def test_a_blob_that_is_deleted_during_its_copy_is_not_a_failure(services, migrator, memory, add, by):
    file = add(b"one")

    def delete():
        services.files.delete(file.stored_name, "", by=by)
        return StorageUnavailable("The content ended early")

    services.backends.get("memory")
    services.backends._built["memory"] = FaultyStorage(memory, Fail("store", error=delete))

    report = migrator().run()

    assert (0, 0, []) == (report.moved, report.size, report.failed)


def test_a_copy_that_a_sweep_deleted_before_its_row_is_not_counted_as_moved(
    services, migrator, memory, add, read, monkeypatch
):
    file = add(b"one")
    write = services.database.write

    def sweep_first(work, **more):
        for stat in memory.list():
            memory.delete(stat.key)
        return write(work, **more)

    monkeypatch.setattr(services.database, "write", sweep_first)
    report = migrator().run()

    assert (0, 1) == (report.moved, len(report.failed))
    assert b"one" == read(file)


@pytest.mark.databases
def test_a_blob_that_another_run_moves_and_purges_is_not_a_failure(migrator, add, read, first):
    files = [add(text) for text in (b"one", b"two")]

    report = migrator().run(progress=first(lambda: migrator().run(purge=True)))

    assert (1, 3, []) == (report.moved, report.size, report.failed)
    assert [b"one", b"two"] == [read(file) for file in files]


@pytest.mark.parametrize("start", [0, 1])
def test_a_download_that_began_before_the_move_is_served_from_the_target(services, migrator, add, start):
    blob = services.files.find(add(b"one").stored_name).blob
    migrator().run(purge=True)

    with services.stored_content.open(blob, start) as content:
        assert b"one"[start:] == content.read()
    assert services.stored_content.open_file(blob) is None
    assert services.stored_content.path(blob) is None


def test_nothing_is_moved_into_a_target_that_is_not_the_one_it_was(services, memory, add, path_of):
    file = add(b"one")
    memory._blobs.clear()

    with pytest.raises(StorageUnavailable, match="is not the one it was"):
        Migrator(services.database, services.backends, source="local", target="memory").run()

    assert path_of(file).exists()
    assert "local" == services.files.find(file.stored_name).blob.storage
    assert not memory._blobs
