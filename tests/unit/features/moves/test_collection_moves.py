"""A collection moves into the storage that it names: versions and trash, without a moment in which they are missing."""

import pytest
from sqlalchemy import select

from frepo_core.db.models import StoredObject
from frepo_core.domain.limits import COUNT
from frepo_core.errors import CollectionHeldError, StorageUnavailable
from frepo_core.features.moves.feature import MoveServices
from frepo_core.features.moves.migration import Migrator
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.upkeep.storage import verify
from frepo_core.testing import Fail, FaultyStorage


@pytest.fixture
def ini(ini, archive_settings):
    return ini | archive_settings | {"trash.keep": "7d"}


@pytest.fixture
def stored(tmp_path):
    """Return which contents a storage has; the marks of owners are left out."""
    folders = {"local": tmp_path / "storage", "archive": tmp_path / "archive"}

    def stored(name):
        found = sorted(path.read_bytes() for path in folders[name].rglob("*") if path.is_file())
        return [content for content in found if not content.startswith(b"{")]

    return stored


@pytest.fixture
def move(services, by):
    """Request the move of a collection, after an edit, and do what the job does."""

    def move(collection, storage="archive", run=True):
        change = CollectionChange(limits={}, storage=storage)
        services.collections.edit(collection, change, by=by)
        services.feature(MoveServices).collections.request(collection)
        return services.feature(MoveServices).collections.run() if run else None

    return move


@pytest.fixture
def two_days_pass(services):
    """Let the time be over for which superseded bytes are kept."""
    return lambda: services.blobs.gate.delete_superseded("local", 1 << 40, reads=True)


@pytest.fixture
def content(services):
    """Read a version as a download does."""

    def content(record):
        with services.stored_content.open(record.file.blob) as stream:
            return stream.read()

    return content


@pytest.mark.costly
@pytest.mark.databases
def test_versions_and_trash_are_moved_and_what_others_use_stays(
    services, make_collection, push, move, stored, content, by, two_days_pass
):
    collection, twin = make_collection(2), make_collection(2)
    for text in (b"one", b"two", b"three"):  # one goes to the trash
        push(collection, text)
    push(twin, b"two")
    before = services.versions.list(collection)

    report = move(collection)

    assert (1, 3, 11, []) == (report.collections, report.moved, report.size, report.failed)
    assert 2 * ([b"one", b"three", b"two"],) == (stored("local"), stored("archive")), "a restored database names both"
    two_days_pass()
    assert ([b"two"], [b"one", b"three", b"two"]) == (stored("local"), stored("archive"))
    assert [b"three", b"two"] == sorted(content(version) for version in before)  # a download that had begun
    services.collections.edit(collection, CollectionChange(limits={COUNT: 5}), by=by)
    assert b"one" == content(services.trash.restore(collection, 1, by=by))
    assert [] == services.feature(MoveServices).collections.requested()


def test_a_content_that_the_target_has_is_not_copied(services, make_collection, push, move, stored, two_days_pass):
    collection, other = make_collection(2), make_collection(2, storage="archive")
    for each in (collection, other):
        push(each, b"same")
    storage = services.backends._built["archive"] = FaultyStorage(services.backends.get("archive"))

    move(collection)
    verify(services.database, services.backends)  # nobody has read what was uploaded there
    two_days_pass()

    assert (1, [], [b"same"]) == (storage.calls["store"], stored("local"), stored("archive"))  # the mark


def test_what_was_interrupted_goes_on(services, make_collection, push, move, stored, two_days_pass):
    collection = make_collection(3)
    for text in (b"one", b"two", b"three"):
        push(collection, text)
    archive = services.backends.get("archive")
    services.backends._built["archive"] = FaultyStorage(archive, Fail("store", nth=3))

    with pytest.raises(StorageUnavailable):
        move(collection)
    assert [collection] == services.feature(MoveServices).collections.requested()
    services.backends._built["archive"] = archive
    report = services.feature(MoveServices).collections.run()
    two_days_pass()

    assert ([], 3) == (stored("local"), len(stored("archive")))
    assert 1 <= report.moved <= 2


def test_a_damaged_content_stays_and_is_named(services, make_collection, push, move, stored, two_days_pass):
    collection = make_collection(3)
    damaged = push(collection, b"one")
    push(collection, b"two")
    services.backends.get("local").path(damaged.version.file.blob.key).write_bytes(b"eno")

    report = move(collection)
    two_days_pass()

    assert (1, 1) == (report.moved, len(report.failed))
    assert damaged.version.file.blob.key in report.failed[0]
    assert ([b"eno"], [b"two"]) == (stored("local"), stored("archive"))


def test_a_collection_that_was_deleted_is_left_out(services, make_collection, push, move, by):
    collection = make_collection(3)
    push(collection, b"one")
    move(collection, run=False)
    services.collections.delete(collection, by=by, with_versions=True)

    assert 0 == services.feature(MoveServices).collections.run().collections
    assert [] == services.feature(MoveServices).collections.requested()


def test_a_storage_with_contents_of_the_target_is_migrated_and_purged(services, make_collection, push, stored, content):
    here, there = make_collection(3), make_collection(3, storage="archive")
    for collection in (here, there):
        push(collection, b"same")
    push(here, b"own")
    migrator = Migrator(services.database, services.backends, source="local", target="archive")

    report = migrator.run()

    assert (2, []) == (report.moved, report.failed)
    assert {b"same": 2, b"own": 1} == _counted(
        content(one) for each in (here, there) for one in services.versions.list(each)
    )
    with services.database.reading() as session:
        assert {"archive"} == set(session.scalars(select(StoredObject.storage).where(StoredObject.slot == 1)))
    verify(services.database, services.backends)  # nobody has read what was uploaded there
    assert 2 == migrator.run(purge=True).purged
    assert ([], [b"own", b"same"]) == (stored("local"), stored("archive"))


def test_a_purge_keeps_what_was_stored_in_the_source_meanwhile(services, make_collection, push, stored):
    here = make_collection(3)
    push(here, b"same")
    migrator = Migrator(services.database, services.backends, source="local", target="archive")

    purge = migrator._purge
    migrator._purge = lambda: (push(here, b"same"), purge())[1]
    report = migrator.run(purge=True)

    assert (1, 1) == (report.moved, report.purged)
    assert ([b"same"], [b"same"]) == (stored("local"), stored("archive"))


def _counted(contents):
    found = {}
    for one in contents:
        found[one] = found.get(one, 0) + 1
    return found


@pytest.mark.databases
def test_a_collection_on_hold_moves_with_all_that_it_keeps(
    services, make_collection, push, move, content, by, two_days_pass
):
    collection = make_collection(2)
    for number in range(2):
        push(collection, f"held {number}".encode())
    services.holds.set(collection, "case 4711", by=by)

    move(collection)
    push(collection, b"held 2")  # the limit is two
    two_days_pass()

    versions = services.versions.list(collection)
    assert [b"held 0", b"held 1", b"held 2"] == sorted(content(one) for one in versions)
    assert {"archive"} == {one.file.blob.storage for one in versions}
    with pytest.raises(CollectionHeldError):
        services.versions.delete(collection, "v1", by=by)
    assert "case 4711" == services.collections.get(collection).hold.reason
