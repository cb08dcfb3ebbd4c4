"""The journal and the catalogues in a storage: what they contain, when they are written, and how they go on."""

import gzip
from datetime import timedelta
from io import BytesIO

import pytest
from sqlalchemy import delete, select, update

from frepo_core.db.models import Event
from frepo_core.domain.roles import Role
from frepo_core.errors import StorageUnavailable
from frepo_core.features.aliases.feature import AliasServices
from frepo_core.features.moves.feature import MoveServices
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.features.recovery.journal_file import JournalDamagedError, JournalFile
from frepo_core.plugins import is_blob_key, is_partial_path
from frepo_core.services.backups.versions.version_edits import VersionChange
from frepo_core.services.events.numbering import find_last_position
from frepo_core.services.upkeep.journal.keys import find_expired
from frepo_core.services.upkeep.storage import Ownership, SweepPlan, sweep
from frepo_core.testing import Fail

ZERO = timedelta()


def number_events(services):
    """Give the events positions, as the worker that leads does."""
    last = find_last_position(services.database)

    def work(session):
        ids = session.scalars(select(Event.id).where(Event.position.is_(None)).order_by(Event.id)).all()
        for position, event in enumerate(ids, start=last + 1):
            session.execute(update(Event).where(Event.id == event).values(position=position))

    services.database.write(work)


def test_the_first_turn_requests_a_catalogue(services, run, keys):
    assert ["local"] == run("journal")["needing"]

    assert [] == keys()
    assert ["catalogue"] == [job.scheduled.name for job in services.jobs.statuses() if job.request]


def test_the_order_of_the_kinds_in_a_file_stays_whatever_feature_brings_them(services):
    nucleus = ["installation", "token", "collection", "deleted_collection", "file", "version", "trash", "alias"]
    kinds = [
        *nucleus[:4],
        "restore_choice",
        "enrolment_code",
        *nucleus[4:],
        "run",
        "sample",
        "plugin_value",
        "plugin_row",
        "event",
    ]

    assert kinds == [kind.name for kind in services.feature(RecoveryServices).kinds]


@pytest.mark.databases
def test_a_catalogue_has_all_objects_with_their_contents(
    services, storage, run, keys, read, make_collection, push, upload
):
    collection = make_collection(1, labels=["db"])
    for content in (b"one", b"two"):
        push(collection, content)
    file = upload(b"plain", name="plain.txt", tags=["blue"]).file
    services.feature(AliasServices).aliases.put("newest", file.stored_name, by=None)

    run("catalogue")

    [key] = keys()
    found = read(key)
    [version], [trashed] = found["version", collection, 2], found["trash", collection, 1]
    [plain] = found["file", file.id]
    contents = [storage.path(one["blob"]["key"]).read_bytes() for one in (version, trashed, plain)]
    assert [b"two", b"one", b"plain"] == contents
    assert ("dump-v2.sql", [{"name": "blue"}]) == (version["file"]["requested_name"], plain["tags"])
    assert ["db"] == found["collection", collection][0]["labels"]
    assert file.stored_name == found["alias", "newest"][0]["file"]
    assert {"token", "event"} <= {name[0] for name in found}


def test_a_part_has_all_versions_of_a_collection_that_was_moved(services, begun, keys, read, make_collection, push):
    collection = make_collection(1)
    for content in (b"one", b"two"):
        push(collection, content)
    services.feature(RecoveryServices).journal.write_changes()
    number_events(services)
    services.feature(MoveServices).collections.request(collection)
    services.feature(MoveServices).collections.run()

    services.feature(RecoveryServices).journal.write_changes()

    assert {("version", collection, 2), ("trash", collection, 1)} <= set(read(keys()[-1]))


@pytest.mark.costly
@pytest.mark.databases
def test_a_part_has_what_was_added_edited_and_removed(
    services, sender, begun, keys, read, make_collection, push, upload
):
    collection = make_collection(5)
    first, second = (push(collection, content).version for content in (b"one", b"two"))
    gone = upload(b"gone", name="gone.txt").file
    services.feature(RecoveryServices).journal.write_changes()
    number_events(services)
    services.feature(RecoveryServices).journal.write_changes()
    services.version_edits.edit(collection, first.id, VersionChange(pinned=True), by=None)
    services.versions.delete(collection, "v2", by=None)
    services.files.delete(gone.stored_name, "", by=sender)

    services.feature(RecoveryServices).journal.write_changes()

    found = read(keys()[-1])
    assert [] == found["version", collection, 2] == found["file", gone.id]
    assert [second.id] == [row["version_id"] for row in found["trash", collection, 2]]
    assert [True] == [row["pinned"] for row in found["version", collection, 1]]
    assert [1] == [row["versions_count"] for row in found["collection", collection]]


def test_a_revoked_token_is_removed(services, begun, keys, read, make_token, sender):
    made = make_token(Role.CREATE_COLLECTIONS)
    fingerprint = services.tokens.fingerprint(made)
    services.feature(RecoveryServices).journal.write_changes()
    with_token = read(keys()[-1])
    services.tokens.revoke(made, by=sender)

    services.feature(RecoveryServices).journal.write_changes()

    assert [[Role.CREATE_COLLECTIONS]] == [row["roles"] for row in with_token["token", fingerprint]]
    assert [] == read(keys()[-1])["token", fingerprint]


def test_nothing_is_written_if_nothing_has_changed(services, begun, keys):
    number_events(services)
    services.feature(RecoveryServices).journal.write_changes()
    before = keys()

    written = services.feature(RecoveryServices).journal.write_changes()

    assert (0, {}, []) == (written.objects, written.keys, list(written.needing))
    assert before == keys()


def test_a_storage_that_was_away_catches_up_with_one_part(services, begun, keys, read, make_collection, push, wrap):
    collection = make_collection(9)
    faulty = wrap(Fail("store"))
    with pytest.raises(StorageUnavailable, match="The storage 'local' got no record for a recovery"):
        services.feature(RecoveryServices).journal.write_changes()
    push(collection, b"one")

    services.feature(RecoveryServices).journal.write_changes()

    assert faulty
    assert {("collection", collection), ("version", collection, 1)} <= set(read(keys()[-1]))


def test_deleted_events_need_a_new_catalogue(services, begun, make_collection, push):
    number_events(services)
    services.feature(RecoveryServices).journal.write_changes()
    collection = make_collection(9)
    for content in (b"one", b"two"):
        push(collection, content)
    number_events(services)
    last = services.database.write(lambda session: session.execute(delete(Event).where(Event.version_number == 1)))

    assert last.rowcount
    services.database.write(lambda session: session.execute(delete(Event).where(Event.version_number.is_(None))))

    assert ["local"] == list(services.feature(RecoveryServices).journal.write_changes().needing)
    services.feature(RecoveryServices).journal.write_catalogue()
    assert [] == list(services.feature(RecoveryServices).journal.write_changes().needing)


def test_an_adopted_storage_needs_a_new_catalogue(services, begun, keys):
    mark = Ownership(services.database, services.backends).adopt("local")

    assert ["local"] == list(services.feature(RecoveryServices).journal.write_changes().needing)
    services.feature(RecoveryServices).journal.write_catalogue()
    services.feature(RecoveryServices).journal.write_changes()
    assert f"-{mark.epoch:08x}-" in keys()[-2]
    assert keys()[-1].startswith(f"journal/{mark.epoch:08x}-")


def test_a_part_that_another_database_has_written_is_not_replaced(services, storage, begun, keys, make_collection):
    """As after a database was restored from a backup: it does not know what was written since."""
    foreign = f"{keys()[-1][:-1]}{int(keys()[-1][-1], 16) + 1:x}"
    storage.store(foreign, BytesIO(b"foreign"), 7)
    make_collection(9)

    assert ["local"] == list(services.feature(RecoveryServices).journal.write_changes().needing)
    assert ["local"] == list(services.feature(RecoveryServices).journal.write_changes().needing)
    services.feature(RecoveryServices).journal.write_catalogue()

    with storage.open(foreign) as stored:
        assert b"foreign" == stored.read()
    assert keys()[-1] > "catalogue/"


def test_a_storage_that_is_another_one_is_not_written_to(services, storage, begun, keys, make_collection):
    storage.delete(Ownership(services.database, services.backends).current("local").key)
    before = keys()
    make_collection(9)

    with pytest.raises(StorageUnavailable, match="the mark of this database is missing"):
        services.feature(RecoveryServices).journal.write_changes()
    with pytest.raises(StorageUnavailable, match="the mark of this database is missing"):
        services.feature(RecoveryServices).journal.write_catalogue()

    assert before == keys()


def test_the_journal_is_neither_a_blob_nor_an_orphan_nor_foreign(services, storage, begun, keys, upload):
    upload(b"one")

    report = sweep(services.database, services.backends, services.blobs, SweepPlan(storage="local", grace=ZERO))

    assert (1, 0, 0) == (report.blobs, report.orphans, report.foreign)
    assert 2 == len(keys())
    assert all(is_blob_key(key) for key in keys())
    assert is_partial_path("journal/.partial-0123456789abcdef")


def test_a_damaged_file_is_refused(services, storage, begun, keys):
    path = storage.path(keys()[0])
    whole = path.read_bytes()
    *lines, _, _ = gzip.decompress(whole).splitlines(keepends=True)  # the end, and the seal
    without_end = gzip.compress(b"".join(lines))
    changed = gzip.compress(gzip.decompress(whole).replace(b"Keep it", b"Lose it", 1))
    for damaged in (whole[:-30], whole[:40] + bytes([whole[40] ^ 1]) + whole[41:], b"", without_end, changed):
        path.write_bytes(damaged)

        with pytest.raises(JournalDamagedError):
            JournalFile(path).check()


def test_fourteen_nights_and_six_months_are_kept_with_the_journal_of_the_nights():
    days = [f"2026{month:02}{day:02}" for month in range(1, 13) for day in (1, 10, 20, 28)]
    catalogues = [f"catalogue/{day}T013000Z-00000001-{number * 10:08x}" for number, day in enumerate(days)]
    parts = [f"journal/00000001-{number:08x}" for number in range(480)]

    expired = set(find_expired([*catalogues, *parts, "ab/cd"]))

    kept = [key for key in catalogues if key not in expired]
    assert catalogues[-14:] == kept[-14:]
    assert [f"2026{month:02}28" for month in (7, 8)] == [key[10:18] for key in kept[:-14]]
    first = (len(days) - 14) * 10
    assert parts[first:] == [key for key in parts if key not in expired]


def test_a_sweep_deletes_what_is_not_kept(services, storage, begun):
    old = "catalogue/20200101T013000Z-00000000-00000000"
    nights = [f"catalogue/202601{day}T013000Z-00000001-00000000" for day in range(10, 24)]
    for key in [old, "journal/00000000-00000001", *nights]:
        storage.store(key, BytesIO(b"x"), 1)

    sweep(services.database, services.backends, services.blobs, SweepPlan(storage="local", grace=ZERO))

    left = {stat.key for stat in storage.list()}
    assert "journal/00000000-00000001" not in left
    assert old in left  # the newest one of its month
