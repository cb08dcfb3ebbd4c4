"""After a database of last night is restored, what was moved since is read from where it is now."""

import pytest

from frepo_core.features.moves.feature import MoveServices
from frepo_core.features.moves.migration import Migrator
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.upkeep.storage import Ownership, verify
from frepo_core.testing import Fail, FaultyStorage
from support.encodings.nights import nights
from support.encodings.stored import StoredBlobs


@pytest.fixture
def ini(ini, archive_settings):
    return ini | archive_settings


@pytest.fixture
def contents():
    return list(nights(3, 2000))


@pytest.fixture
def changes(services, sender, contents):
    """What can happen to the two versions of a collection in the night after the backup of the database."""

    def move(collection):
        services.collections.edit(collection, CollectionChange(limits={}, storage="archive"), by=sender)
        services.feature(MoveServices).collections.request(collection)
        services.feature(MoveServices).collections.run()

    def migrate(collection):
        Migrator(services.database, services.backends, source="local", target="archive").run(purge=True)

    def compact(collection):
        StoredBlobs(services).chain(contents)
        StoredBlobs(services).end_superseded()

    return {"move": move, "migrate": migrate, "compact": compact}


@pytest.fixture
def restored(services, make_collection, push, contents, changes, back_up):
    """A collection of two versions, a backup of the database, a third version, a change, and the restored database."""

    def restored(change):
        Ownership(services.database, services.backends).claim("archive")
        collection = make_collection(9)
        for content in contents[:2]:
            push(collection, content)
        services.feature(RecoveryServices).journal.write_catalogue()
        restore = back_up()
        push(collection, contents[2])
        changes[change](collection)
        services.feature(RecoveryServices).journal.write_changes()
        new = restore()
        for storage in ("local", "archive"):
            Ownership(new.database, new.backends).adopt(storage)
        return new, collection

    return restored


def merge(services, storage="local"):
    with services.feature(RecoveryServices).merge(storage, lambda text: None) as merging:
        return merging.run(merging.find(), by=None)


def read(services, collection):
    found = {}
    for version in services.versions.list(collection):
        with services.stored_content.open(version.file.blob) as content:
            found[version.number] = b"".join(iter(lambda content=content: content.read(1 << 16), b""))
    return found


@pytest.mark.parametrize("change", ["move", "migrate", "compact"])
def test_what_the_database_knows_is_read_from_where_it_is_now(restored, contents, change):
    new, collection = restored(change)

    report = merge(new)
    again = merge(new)

    assert (1, 2, []) == (report.versions, report.found_elsewhere, report.missing)
    assert (0, 0, []) == (again.versions, again.found_elsewhere, again.missing)
    assert dict(enumerate(contents, 1)) == read(new, collection)
    assert [] == verify(new.database, new.backends).damaged


def test_what_is_in_no_storage_is_missing_and_marked(restored, contents, tmp_path):
    new, collection = restored("move")
    for path in [*(tmp_path / "archive").glob("??/*"), *(tmp_path / "storage").glob("??/*")]:
        if path.read_bytes() in contents[:2]:
            path.unlink()

    report = merge(new)

    assert [(collection, 1), (collection, 2)] == report.missing
    assert [True, True, False] == [version.file.blob.is_damaged for version in new.versions.list(collection)]


def test_a_storage_that_cannot_be_listed_is_named(restored):
    new, _ = restored("move")
    new.backends._built["archive"] = FaultyStorage(new.backends.get("archive"), Fail("list"))

    with new.feature(RecoveryServices).merge("local", lambda text: None) as merging:
        source = merging.find()

    assert ["archive cannot be read"] == [problem.partition(",")[0] for problem in source.problems]
