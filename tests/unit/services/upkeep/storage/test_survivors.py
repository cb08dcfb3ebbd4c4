"""What takes the place of an object was read before that is deleted: one bit that nobody noticed costs no content."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from frepo_core.db import utc_now
from frepo_core.db.models import File, StoredObject
from frepo_core.features.moves.feature import MoveServices
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.content.objects.found_objects import FoundObjects
from frepo_core.services.upkeep.storage import OwnerMark
from support.encodings.nights import nights
from support.encodings.stored import StoredBlobs


@pytest.fixture
def ini(ini, archive_settings):
    return ini | archive_settings


@pytest.fixture
def blobs(services):
    services.object_reads.notes._start = lambda work: work()
    return StoredBlobs(services)


@pytest.fixture
def contents():
    return list(nights(3, 500))


@pytest.fixture(autouse=True)
def pushed(make_collection, push, contents):
    collection = make_collection()
    return [push(collection, content) for content in contents]


@pytest.fixture
def flip(tmp_path):
    """Flip a bit of a stored object, which nobody notices."""

    def flip(row):
        path = tmp_path / {"local": "storage"}.get(row.storage, row.storage) / row.key
        data = bytearray(path.read_bytes())
        data[len(data) * 2 // 3] ^= 1
        path.write_bytes(data)

    return flip


@pytest.fixture
def two_days_pass(services):
    """Let the time be over for which objects are kept, then run what the jobs do each night."""

    def two_days_pass():
        services.database.execute(
            update(StoredObject).where(StoredObject.delete_after.is_not(None)).values(delete_after=utc_now())
        )
        return services.blobs.gate.delete_due("local").objects

    return two_days_pass


@pytest.fixture
def states(services):
    """Return the states of the objects of a content, the oldest object first."""

    def states(row):
        with services.database.reading() as session:
            of_content = select(StoredObject.state).where(StoredObject.digest == row.digest)
            return list(session.scalars(of_content.order_by(StoredObject.id)))

    return states


@pytest.fixture
def let_go(services):
    """Let no file use a content any more; another one, which is read from the same objects, is used instead."""

    def let_go(row):
        with services.database.reading() as session:
            other = session.scalar(select(File.content_id).where(File.content_id != row.content_id).limit(1))
        files = update(File).where(File.content_id == row.content_id)
        services.database.execute(files.values(content_id=other))

    return let_go


@pytest.fixture
def download(services):
    """Read the versions of all collections, as downloads do."""

    def download(pushed):
        found = []
        for record in pushed:
            with services.stored_content.open(record.version.file.blob) as content:
                found.append(content.read())
        return found

    return download


def test_a_bit_that_flips_within_the_two_days_keeps_the_old_object(
    blobs, contents, pushed, flip, two_days_pass, states, run, download
):
    blobs.encode(contents[0], contents[1])
    flip(blobs.row(contents[0]))

    assert 0 == two_days_pass()
    assert ["superseded", "damaged"] == states(blobs.row(contents[0]))
    assert contents == download(pushed)
    run("mirror")
    two_days_pass()
    assert "present" == blobs.row(contents[0]).state
    assert "damaged" not in states(blobs.row(contents[0]))
    assert contents == download(pushed)


def test_a_wrong_base_keeps_what_was_stored_without_it(blobs, contents, flip, two_days_pass, states):
    blobs.encode(contents[0], contents[1])
    flip(blobs.row(contents[1]))

    assert 0 == two_days_pass()
    assert ["superseded", "present"] == states(blobs.row(contents[0]))
    assert ["damaged"] == states(blobs.row(contents[1]))


def test_sound_ones_are_deleted_and_their_bases_are_read_once(services, blobs, contents, two_days_pass, wrap):
    blobs.encode(contents[0], contents[2])
    blobs.encode(contents[1], contents[2])
    storage = wrap()

    assert 2 == two_days_pass()
    # Both differences with their base, and the base for itself.
    assert storage.calls["open"] <= 12


def test_a_base_of_what_is_due_and_of_what_waits_is_read_once_in_a_run(services, blobs, contents, wrap):
    blobs.encode(contents[0], contents[2])
    due = update(StoredObject).where(StoredObject.delete_after.is_not(None)).values(delete_after=utc_now())
    services.database.execute(due)
    blobs.encode(contents[1], contents[2])
    read, gate = [], services.blobs.gate
    gate._read = lambda row, pace, read_one=gate._read: read.append(row.digest) or read_one(row, pace)

    assert 1 == gate.delete_due("local").objects
    assert [blobs.row(contents[number]).digest for number in (2, 0, 1)] == read


def test_a_base_of_a_used_content_stays_if_what_replaces_it_is_wrong(
    services, blobs, contents, flip, two_days_pass, states, let_go
):
    blobs.encode(contents[0], contents[1])
    assert 1 == two_days_pass()
    base = blobs.row(contents[1])
    blobs.encode(contents[1], contents[2])
    let_go(base)
    flip(blobs.row(contents[1]))

    assert 0 == two_days_pass()
    assert ["superseded", "damaged"] == states(base)


def test_a_deleted_version_does_not_take_its_current_object_from_what_needs_it(
    services, blobs, contents, flip, states, two_days_pass, let_go
):
    blobs.encode(contents[0], contents[1])
    assert 1 == two_days_pass()
    old = blobs.row(contents[1])
    blobs.encode(contents[1], contents[2])
    flip(old)
    let_go(old)

    services.blobs.collect([old.content_id])

    assert ["superseded", "present"] == states(old)


def test_the_source_of_a_move_stays_if_nothing_sound_is_in_the_target(
    services, make_collection, push, flip, two_days_pass, states, sender
):
    collection = make_collection()
    push(collection, b"moved")
    services.collections.edit(collection, CollectionChange(limits={}, storage="archive"), by=sender)
    services.feature(MoveServices).collections.request(collection)
    services.feature(MoveServices).collections.run()
    with services.database.reading() as session:
        moved = session.scalars(select(StoredObject).where(StoredObject.storage == "archive")).one()
    flip(moved)

    assert 0 == two_days_pass()
    assert ["superseded", "damaged"] == states(moved)


def test_nothing_is_left_in_the_source_of_a_move_after_an_encoding(
    services, blobs, contents, pushed, two_days_pass, sender, storage
):
    """Two objects in it are superseded: neither takes the place of the other one."""
    blobs.encode(contents[0], contents[1])
    collection = pushed[0].version.collection_id
    services.collections.edit(collection, CollectionChange(limits={}, storage="archive"), by=sender)
    services.feature(MoveServices).collections.request(collection)
    services.feature(MoveServices).collections.run()

    two_days_pass()
    two_days_pass()  # the base of a difference after it

    assert [] == [stat.key for stat in storage.list() if not OwnerMark.parse(stat.key)]


def test_found_bytes_stay_if_the_current_object_is_wrong(services, blobs, upload, storage, flip, two_days_pass, states):
    upload(b"twice")
    row = blobs.row(b"twice")
    other = row.key[:-1] + ("0" if row.key[-1] != "0" else "1")
    with storage.open(row.key) as stored:
        storage.store(other, stored, row.size)
    found = [stat for stat in storage.list() if stat.key == other]
    FoundObjects(services.database, services.backends).register("local", found, keeps=timedelta())
    flip(row)

    assert 0 == two_days_pass()
    assert ["damaged", "found"] == states(row)


def test_room_is_made_only_of_what_a_job_has_read_since(services, blobs, contents, states):
    blobs.encode(contents[0], contents[1])

    assert 0 == services.blobs.gate.delete_superseded("local", 1 << 40).objects
    assert 0 == services.blobs.gate.delete_due("local").objects
    assert 1 == services.blobs.gate.delete_superseded("local", 1 << 40).objects
    assert ["present"] == states(blobs.row(contents[0]))
