"""What a restored database has lost, or what was deleted, is read back from a storage."""

from datetime import timedelta
from io import BytesIO

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import StoredObject
from frepo_core.domain.identity import Actor
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.features.recovery.sound_objects import SoundObjects
from frepo_core.features.recovery.sources import RecoveryError
from frepo_core.services.backups.versions.version_checks import NewCheck
from frepo_core.services.backups.versions.version_edits import VersionChange
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.upkeep.storage import Ownership


def push_to(services, collection, content, by):
    facts = services.collections.get(collection)
    return services.add_version.add(facts, Incoming(stream=BytesIO(content)), by=by).version


def contents(services, collection):
    found = {}
    for version in services.versions.list(collection):
        backend = services.backends.get(version.file.blob.storage)
        found[version.number] = backend.path(version.file.blob.key).read_bytes()
    return found


def merge(services, storage="local", at=None):
    with services.feature(RecoveryServices).merge(storage, lambda text: None, at=at) as merging:
        return merging.run(merging.find(), by=None)


@pytest.mark.costly
def test_what_came_after_the_backup_is_read_back(services, run, make_collection, push, sender, back_up):
    collection = make_collection(9)
    for content in (b"one", b"two"):
        push(collection, content)
    services.versions.delete(collection, "v1", by=sender)
    run("catalogue")
    restore = back_up()
    push(collection, b"lost")
    new = make_collection(9)
    push(new, b"lost, too")
    services.feature(RecoveryServices).journal.write_changes()
    Ownership(services.database, services.backends).raise_epoch("local")
    restored = restore()
    Ownership(restored.database, restored.backends).adopt("local")
    push_to(restored, collection, b"after the restore", sender)

    report = merge(restored)
    again = merge(restored)

    assert (1, 2, [], []) == (report.collections, report.versions, report.in_trash, report.missing)
    assert (0, 0, [], []) == (again.collections, again.versions, again.in_trash, again.missing)
    assert {2: b"two", 3: b"after the restore", 4: b"lost"} == contents(restored, collection)
    assert {1: b"lost, too"} == contents(restored, new)
    facts = restored.collections.get(collection)
    assert (3, 4) == (facts.versions_count, facts.last_number)


def test_catalogues_of_the_restored_service_are_not_what_was_lost(services, run, make_collection, push, back_up):
    collection = make_collection(9)
    run("catalogue")
    restore = back_up()
    push(collection, b"lost")
    services.feature(RecoveryServices).journal.write_changes()
    Ownership(services.database, services.backends).raise_epoch("local")
    restored = restore()
    ownership = Ownership(restored.database, restored.backends)
    ownership.adopt("local")
    restored.feature(RecoveryServices).journal.write_catalogue()
    ownership.raise_epoch("local")  # as a sweep does
    restored.feature(RecoveryServices).journal.write_catalogue()

    report = merge(restored)

    assert (1, {1: b"lost"}) == (report.versions, contents(restored, collection))


def test_what_the_restored_service_has_removed_itself_stays_removed(
    services, run, make_collection, push, sender, back_up
):
    collection = make_collection(9)
    for content in (b"one", b"two"):
        push(collection, content)
    push(make_collection(9), b"one")  # so that the bytes stay
    run("catalogue")
    restored = back_up()()
    push(collection, b"lost")
    services.feature(RecoveryServices).journal.write_changes()
    restored.versions.delete(collection, "v1", by=sender)
    restored.trash.end(collection, 1, by=sender)

    merge(restored)

    assert [2, 3] == sorted(contents(restored, collection))


@pytest.mark.parametrize("has_catalogue", [False, True])
def test_a_full_collection_has_its_newest_versions_again(services, run, make_collection, push, back_up, has_catalogue):
    collection = make_collection(4)
    for content in (b"one", b"two", b"three", b"four"):
        push(collection, content)
    run("catalogue")
    restore = back_up()
    push(collection, b"five")
    push(collection, b"six")
    if has_catalogue:
        run("catalogue")
    services.feature(RecoveryServices).journal.write_changes()
    restored = restore()

    report, again = merge(restored), merge(restored)

    assert (2, []) == (report.versions, report.in_trash)
    assert (0, []) == (again.versions, again.in_trash)
    assert {3: b"three", 4: b"four", 5: b"five", 6: b"six"} == contents(restored, collection)
    assert [2, 1] == [entry.number for entry in restored.trash.list(collection)]


def test_what_came_and_left_again_since_the_backup_is_in_the_trash_again(
    services, run, make_collection, push, sender, back_up
):
    collection = make_collection(1)
    push(collection, b"one")
    run("catalogue")
    restore = back_up()
    for content in (b"two", b"three"):
        push(collection, content)
    gone = push(collection, b"four").version
    push(collection, b"five")
    services.trash.end(collection, gone.number, by=sender)
    before = services.trash.list(collection)
    services.feature(RecoveryServices).journal.write_changes()
    restored = restore()

    report, again = merge(restored), merge(restored)

    assert (1, 2, []) == (report.versions, report.trash, report.in_trash + report.missing)
    assert (0, 0, []) == (again.versions, again.trash, again.in_trash + again.missing)
    assert {5: b"five"} == contents(restored, collection)
    after = restored.trash.list(collection)
    assert [3, 2, 1] == [entry.number for entry in after]
    assert [(one.reason, one.evicted_by) for one in before[:2]] == [(one.reason, one.evicted_by) for one in after[:2]]


def test_a_version_that_may_not_leave_stays_and_the_lost_one_waits_in_the_trash(
    services, run, make_collection, push, sender, back_up
):
    collection = make_collection(2)
    first, _ = (push(collection, content).version for content in (b"one", b"two"))
    run("catalogue")
    restore = back_up()
    push(collection, b"three")
    services.feature(RecoveryServices).journal.write_changes()
    restored = restore()
    restored.version_edits.edit(collection, first.id, VersionChange(pinned=True), by=sender)

    report, again = merge(restored), merge(restored)

    assert ([(collection, 3)], 0) == (report.in_trash, report.versions)
    assert ([], 0) == (again.in_trash, again.versions)
    assert {1: b"one", 2: b"two"} == contents(restored, collection)
    assert [3] == [entry.number for entry in restored.trash.list(collection)]


def test_a_collection_expects_its_next_backup_after_the_newest_that_came_back(
    services, run, make_collection, push, back_up
):
    """It is not called overdue, because of what the backup of the database did not know, until its next upload."""
    guards = {"min_version_size": 4, "action": "quarantine"}
    collection = make_collection(1, expected_every="1d", guards=guards)
    push(collection, b"the first")
    run("catalogue")
    restore = back_up()
    push(collection, b"the second")
    expected = services.collections.get(collection)
    push(collection, b"bad")
    services.feature(RecoveryServices).journal.write_changes()
    restored = restore()

    merge(restored)

    facts = restored.collections.get(collection)
    assert (expected.arrived_at, expected.due_at) == (facts.arrived_at, facts.due_at)


def test_a_version_that_was_pinned_is_pinned_again(services, run, make_collection, push, sender, back_up):
    collection = make_collection(9)
    run("catalogue")
    restore = back_up()
    version = push(collection, b"lost").version
    pin = {"reason": "before the move", "until": utc_now() + timedelta(days=9)}
    before = services.version_edits.edit(collection, version.id, VersionChange(pinned=True, pin=pin), by=sender)
    services.feature(RecoveryServices).journal.write_changes()
    restored = restore()

    merge(restored)

    after = restored.versions.find(collection, "v1")
    assert (True, "before the move", before.pinned_until) == (after.pinned, after.pin_reason, after.pinned_until)


def test_a_version_in_quarantine_is_there_again_and_evicts_nothing(services, run, make_collection, push, back_up):
    guards = {"min_version_size": 4, "action": "quarantine"}
    collection = make_collection(1, guards=guards)
    push(collection, b"the first")
    run("catalogue")
    restore = back_up()
    before = push(collection, b"two").version
    services.feature(RecoveryServices).journal.write_changes()
    restored = restore()

    report = merge(restored)

    after = restored.versions.find(collection, "v2")
    assert (1, [], []) == (report.versions, report.in_trash, restored.trash.list(collection))
    assert (True, before.quarantine_reason) == (after.is_quarantined, after.quarantine_reason)
    assert 1 == restored.collections.get(collection).versions_count


def test_what_checks_have_found_is_read_back(services, run, make_collection, push, back_up):
    collection = make_collection(9)
    run("catalogue")
    restore = back_up()
    for outcome in ("good", "broken"):
        version = push(collection, outcome.encode()).version
        check = NewCheck(name="restore", outcome=outcome, message="", details={"seconds": 3})
        services.late_results.record(version.id, check, by=Actor(name="system:restore_tests"))
    services.feature(RecoveryServices).journal.write_changes()
    before = services.version_checks.of_collection(collection)
    restored = restore()

    merge(restored)

    verdicts = [version.verdict.value for version in restored.versions.list(collection)]
    assert ["restored", "broken"] == verdicts
    assert before == restored.version_checks.of_collection(collection)


def test_a_version_whose_number_was_used_again_gets_the_next_one(services, run, make_collection, push, sender, back_up):
    collection = make_collection(9)
    run("catalogue")
    restore = back_up()
    push(collection, b"lost")
    services.feature(RecoveryServices).journal.write_changes()
    restored = restore()
    Ownership(restored.database, restored.backends).adopt("local")
    push_to(restored, collection, b"after the restore", sender)

    merge(restored)

    assert {1: b"after the restore", 2: b"lost"} == contents(restored, collection)
    assert 3 == push_to(restored, collection, b"next", sender).number


def test_a_version_whose_bytes_are_damaged_is_missing(services, run, make_collection, push, back_up, storage):
    collection = make_collection(9)
    run("catalogue")
    restore = back_up()
    blob = push(collection, b"lost").version.file.blob
    services.feature(RecoveryServices).journal.write_changes()
    storage.path(blob.key).write_bytes(b"LOST")

    report = merge(restored := restore())

    assert ([(collection, 1)], 0, []) == (report.missing, report.versions, report.in_trash)
    assert [] == restored.trash.list(collection)


def test_a_known_content_is_read_before_a_lost_version_gets_it(services, run, make_collection, push, back_up, storage):
    collection = make_collection(9)
    blob = push(collection, b"lost").version.file.blob
    run("catalogue")
    restore = back_up()
    push(collection, b"lost")
    services.feature(RecoveryServices).journal.write_changes()
    storage.path(blob.key).write_bytes(b"LOST")

    report = merge(restore())

    assert ([(collection, 2)], 0, []) == (report.missing, report.versions, report.in_trash)


def test_a_storage_that_was_not_adopted_has_nothing_to_merge(services, run, upload):
    upload(b"one")
    run("catalogue")

    with pytest.raises(RecoveryError, match="nothing that this database did not write itself"):
        merge(services)


def test_a_restored_database_is_told_to_adopt_only_where_that_helps(services, run, upload, back_up):
    """In the middle of an emergency, nobody is sent to a command that answers that there is nothing to do."""
    upload(b"one")
    run("catalogue")
    restored = back_up()()

    with pytest.raises(RecoveryError, match="nothing to read back from it, and nothing to adopt"):
        merge(restored)
    Ownership(services.database, services.backends).raise_epoch("local")
    with pytest.raises(RecoveryError, match="marks are not those of this database.*storage:adopt --storage local"):
        merge(restored)


def test_a_storage_that_was_empty_when_it_was_adopted_has_nothing_to_merge(services, run, upload, recover, tmp_path):
    upload(b"one")
    run("catalogue")
    new = recover().services
    (tmp_path / "storage").rename(tmp_path / "old")
    (tmp_path / "storage").mkdir()
    Ownership(new.database, new.backends).adopt("local")

    with pytest.raises(RecoveryError, match="no catalogue from before this database adopted it: there is nothing to"):
        merge(new)


class TestDeleted:
    @pytest.fixture
    def ini(self, ini, tmp_path):
        """A service with a second copy of each content."""
        (tmp_path / "offsite").mkdir()
        return ini | {
            "storages": "offsite",
            "storage.offsite.adapter": "local",
            "storage.offsite.directory": str(tmp_path / "offsite"),
            "mirror": "offsite",
        }

    @pytest.fixture
    def emptied(self, services, run, make_collection, push, sender):
        """An attacker has deleted all versions, and emptied the trash. Return the collection and the time before."""
        for storage in ("local", "offsite"):
            Ownership(services.database, services.backends).claim(storage)
        collection = make_collection(9)
        for content in (b"one", b"two"):
            push(collection, content)
        run("mirror")
        run("catalogue")
        before = utc_now() + timedelta(milliseconds=1)
        for number in (1, 2):
            services.versions.delete(collection, f"v{number}", by=sender)
        services.trash.end(collection, by=sender)
        run("mirror")
        services.feature(RecoveryServices).journal.write_changes()
        return collection, before

    @pytest.mark.costly
    def test_deleted_versions_come_back_as_trash_from_the_second_copy(self, services, emptied, sender):
        collection, before = emptied

        report = merge(services, "offsite", at=before)

        assert [(collection, 1), (collection, 2)] == sorted(report.in_trash)
        assert [] == report.missing
        for number in (1, 2):
            services.trash.restore(collection, number, by=sender)
        assert {1: b"one", 2: b"two"} == contents(services, collection)

    @pytest.mark.costly
    def test_the_job_does_not_delete_what_came_back(self, services, emptied, run):
        """It copies it to the first storage, so that there are two copies again."""
        _, before = emptied
        merge(services, "offsite", at=before)

        run("mirror", utc_now() + timedelta(days=30))

        with services.database.reading() as session:
            rows = session.query(StoredObject).filter_by(slot=1).all()
            assert 0 == session.query(StoredObject).filter_by(state="leaving").count()
        assert 2 * [("local", "present")] + 2 * [("offsite", "present")] == sorted(
            (row.storage, row.state) for row in rows
        )
        assert all(services.backends.get(row.storage).path(row.key).exists() for row in rows)

    def test_what_is_deleted_while_it_is_read_back_is_missing(self, services, emptied, monkeypatch):
        """The job mirror has doomed the copies after they were read, and deletes their bytes now."""
        _, before = emptied
        has = SoundObjects.has

        def doom(self, digest, storage):
            is_sound = has(self, digest, storage)
            row = update(StoredObject).where(StoredObject.digest == digest, StoredObject.key.is_not(None))
            services.database.execute(row.values(state="doomed", slot=None))
            return is_sound

        monkeypatch.setattr(SoundObjects, "has", doom)
        report = merge(services, "offsite", at=before)

        assert (2, []) == (len(report.missing), report.in_trash)

    def test_bytes_that_were_replaced_and_come_back_are_not_deleted(self, services, emptied):
        """The job compact keeps what it has replaced for two days: these bytes may be all that is left."""
        _, before = emptied

        superseded = update(StoredObject).values(state="superseded", slot=None, delete_after=utc_now())
        services.database.execute(superseded)
        merge(services, "offsite", at=before)

        services.blobs.gate.delete_due("offsite")

        with services.database.reading() as session:
            rows = session.query(StoredObject).filter_by(storage="offsite", slot=1).all()
        assert 2 == len(rows)
        assert all(services.backends.get(row.storage).path(row.key).exists() for row in rows)
