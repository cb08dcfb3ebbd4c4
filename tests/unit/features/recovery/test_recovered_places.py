"""A recovery finds where each content is now: after moves, encodings and losses since the catalogue was written."""

import shutil
import subprocess
import sys
from io import BytesIO

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import Event
from frepo_core.domain.identity import Actor
from frepo_core.features.doctor.compact import check_compact
from frepo_core.features.doctor.copies import check_copies
from frepo_core.features.moves.migration import Migrator
from frepo_core.features.overview.status import read_status
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.features.second_copies.feature import SecondCopyServices
from frepo_core.services.backups.versions.version_checks import NewCheck
from frepo_core.services.backups.versions.version_edits import VersionChange
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.reports.statistics import read_statistics
from frepo_core.services.upkeep.storage import verify
from support.encodings.nights import nights
from support.encodings.stored import StoredBlobs
from support.paths import ROOT


@pytest.fixture
def ini(ini, tmp_path):
    """A service with a second copy of each content."""
    more = {"storages": "offsite", "storage.offsite.adapter": "local", "mirror": "offsite", "mirror.rate": "0"}
    return ini | more | {"storage.offsite.directory": str(tmp_path / "offsite")}


def write_catalogue(services):
    """Write a catalogue that has all events, as on a service whose worker has numbered them."""
    services.database.execute(update(Event).values(position=Event.id))
    services.feature(RecoveryServices).journal.write_catalogue()


def write_part(services):
    """Write a part of the journal, which the next one does not repeat."""
    services.database.execute(update(Event).values(position=Event.id))
    services.feature(RecoveryServices).journal.write_changes()


def migrate(services):
    Migrator(services.database, services.backends, source="local", target="offsite").run()


def promote(services):
    services.feature(SecondCopyServices).promotions.promote(
        services.feature(SecondCopyServices).promotions.plan("offsite")
    )


@pytest.mark.parametrize("move", [migrate, promote])
@pytest.mark.parametrize("source", ["local", pytest.param("offsite", marks=pytest.mark.costly)])
def test_two_versions_share_a_content_that_was_moved_since_the_catalogue(
    services, run, make_collection, push, sender, recover, move, source
):
    collection = make_collection(9)
    first, _ = (push(collection, b"the same").version for _ in range(2))
    other = make_collection(9)
    push(other, b"the same")
    if move is promote:
        run("mirror")
    write_catalogue(services)
    move(services)
    services.version_edits.edit(collection, first.id, VersionChange(pinned=True), by=sender)
    write_part(services)

    new = recover(source)

    assert {1: b"the same", 2: b"the same"} == new.read(collection)
    assert {1: b"the same"} == new.read(other)
    assert (0, []) == (new.report.missing, new.damaged())


@pytest.mark.parametrize("is_journaled", [False, True])
def test_versions_in_the_trash_come_back_with_the_results_of_their_checks(
    services, run, make_collection, push, sender, recover, is_journaled
):
    kept, deleted = make_collection(9), make_collection(9)
    for collection in (kept, deleted):
        version = push(collection, collection.encode()).version
        check = NewCheck(name="restore", outcome="good", message="fine", details={"seconds": 3})
        assert services.late_results.record(version.id, check, by=Actor(name="system:restore_tests"))
    before = [services.version_checks.of_collection(one) for one in (kept, deleted)]
    if is_journaled:
        write_catalogue(services)
    services.versions.delete(kept, "v1", by=sender)
    services.collections.delete(deleted, by=sender, with_versions=True)
    write_part(services) if is_journaled else write_catalogue(services)

    new = recover()
    new.services.trash.restore(kept, 1, by=sender)
    new.services.deleted_collections.restore(deleted, by=sender)

    assert before == [new.services.version_checks.of_collection(one) for one in (kept, deleted)]
    assert {1: kept.encode()} == new.read(kept)


def test_a_stored_name_that_was_used_again_in_a_lost_part_stops_nothing(
    services, storage, make_collection, push, sender, keys, recover
):
    collection = make_collection(9)
    push(collection, b"one")
    write_catalogue(services)
    services.versions.delete(collection, "v1", by=sender)
    services.trash.end(collection, 1, by=sender)
    write_part(services)
    other = make_collection(9)
    push(other, b"one")
    write_part(services)
    storage.path(min(key for key in keys() if key.startswith("journal/"))).unlink()

    new = recover()

    assert {1: b"one"} == new.read(other)


LARGEST = pytest.param(lambda stat: -stat.size, marks=pytest.mark.costly, id="largest")
SIZES = pytest.mark.parametrize("order", [pytest.param(lambda stat: stat.size, id="smallest"), LARGEST])


@SIZES
def test_an_object_whose_base_is_gone_is_not_taken_if_another_can_be_decoded(
    services, make_collection, push, sender, recover, order
):
    collection, contents, blobs = make_collection(9), list(nights(3, 2000)), StoredBlobs(services)
    for content in contents:
        push(collection, content)
    assert blobs.encode(contents[0], contents[1])
    write_catalogue(services)
    services.versions.delete(collection, "v2", by=sender)
    services.trash.end(collection, 2, by=sender)
    assert blobs.encode(contents[0], contents[2])
    services.backends.get("local").delete(blobs.row(contents[1]).key)  # as if what was superseded did not need it
    write_part(services)

    new = recover(order=order)

    assert {1: contents[0], 3: contents[2]} == new.read(collection)
    assert (0, []) == (new.report.missing, new.damaged())


def test_the_doctor_does_not_say_what_compact_saves_before_it_was_counted(services, make_collection, push, recover):
    collection, (older, newer), blobs = make_collection(9), nights(2, 2000), StoredBlobs(services)
    for content in (older, newer):
        push(collection, content)
    assert blobs.encode(older, newer)
    write_catalogue(services)

    [found] = check_compact(recover().services)

    assert "What is encoded was not counted yet: the job compact does so" in found.message
    assert "compact is off" in found.message


@pytest.fixture
def changed_places(services, run, make_collection, push, tmp_path):
    """Two contents, the newer one stored as the difference to the older one now, and the other way round before.

    A third one is the difference to the newer one. The bytes of both ways are in the second storage, and the first one
    is lost. Return their collection.
    """
    collection, (older, newer, third), blobs = make_collection(9), nights(3, 2000), StoredBlobs(services)
    for content in (older, newer, third):
        push(collection, content)
    assert blobs.encode(older, newer)
    assert blobs.encode(third, newer)
    run("mirror")
    write_catalogue(services)
    assert blobs.expand(older)
    assert blobs.encode(newer, older)
    run("mirror")
    shutil.rmtree(tmp_path / "storage")
    return collection, {1: older, 2: newer, 3: third}


@SIZES
def test_two_contents_that_were_the_difference_to_each_other_are_read(changed_places, recover, order, tmp_path):
    collection, contents = changed_places
    (tmp_path / "storage").mkdir()

    new = recover("offsite", order)

    assert contents == new.read(collection)
    assert (0, []) == (new.report.missing, new.damaged())


def test_the_script_reads_them_too(changed_places, tmp_path):
    _, contents = changed_places
    for path in (tmp_path / "offsite").glob("??/*"):
        if path.stat().st_size < len(contents[1]) // 2:  # a difference, which the script finds first
            path.rename(path.with_name(path.name.partition("-")[0] + "-" + "0" * 16))
    arguments = [sys.executable, ROOT / "docs/recover_by_hand.py", tmp_path / "offsite", tmp_path / "out"]

    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=60)

    assert (0, "3 contents were written, 0 are missing or damaged") == (done.returncode, done.stderr.splitlines()[-1])
    (folder,) = (tmp_path / "out/versions").iterdir()
    assert contents == {int(path.name.partition("-")[0]): path.read_bytes() for path in folder.iterdir()}


def test_what_cannot_be_decoded_is_said_to_be_missing(changed_places, recover, tmp_path):
    """Two contents are left as the difference to each other only, and the third one needs them."""
    collection, contents = changed_places
    (tmp_path / "storage").mkdir()
    for path in (tmp_path / "offsite").glob("??/*"):
        if path.stat().st_size > len(contents[1]) // 2:
            path.unlink()

    new = recover("offsite")

    assert 3 == new.report.missing
    assert all(version.file.blob.is_damaged for version in new.services.versions.list(collection))


def test_a_sound_copy_of_a_content_that_was_damaged_is_served(services, run, make_collection, push, recover, tmp_path):
    collection = make_collection(9)
    version = push(collection, b"the content").version
    run("mirror")
    path = tmp_path / "storage" / version.file.blob.key
    path.chmod(0o600)
    path.write_bytes(b"the consent")
    assert verify(services.database, services.backends).damaged
    write_catalogue(services)

    new = recover("offsite")

    assert {1: b"the content"} == new.read(collection)
    assert not any(version.file.blob.is_damaged for version in new.services.versions.list(collection))


def test_a_surviving_storage_without_first_copies_is_adopted_and_gets_catalogues(
    services, run, make_collection, push, sender, recover, tmp_path
):
    collection = make_collection(9)
    push(collection, b"one")
    run("mirror")
    write_catalogue(services)
    first = recover("local")
    new = first.services
    new.add_version.add(new.collections.get(collection), Incoming(stream=BytesIO(b"two")), by=sender)
    new.feature(SecondCopyServices).mirror.run("offsite", keep_going=lambda: None, progress=lambda text: None)
    write_catalogue(new)

    second = recover("offsite")

    assert ["local", "offsite"] == first.report.adopted
    assert {1: b"one", 2: b"two"} == second.read(collection)


def test_no_report_says_that_there_are_two_copies_before_they_were_compared(
    services, run, make_collection, push, recover, tmp_path
):
    push(make_collection(9), b"the content")
    run("mirror")
    write_catalogue(services)
    shutil.rmtree(tmp_path / "storage")
    (tmp_path / "storage").mkdir()
    new = recover("offsite").services

    def reports():
        [said] = [line.text for line in read_status(new) if line.subject == "copies in offsite"]
        statistics = read_statistics(new, new.figures)
        known = {one.is_known for one in (*new.feature(SecondCopyServices).reports.read(), *statistics.copies)}
        return said, {found.level.value for found in check_copies(new)}, known

    unknown = "Contents were not compared with their copies in offsite yet: the job mirror does so"
    assert (unknown, {"warning"}, {False}) == reports()
    new.feature(SecondCopyServices).mirror.compare(keep_going=lambda: None)
    assert ["1 content waits for its bytes in local, which is the first storage now"] == [
        one.describe(utc_now()).partition(" (")[0]
        for one in new.feature(SecondCopyServices).reports.read()
        if one.storage == "local"
    ]
    assert all(one.is_known for one in new.feature(SecondCopyServices).reports.read())
