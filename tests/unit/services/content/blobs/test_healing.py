"""An upload of a content replaces a damaged blob with the same digest."""

import sqlite3

import pytest
from sqlalchemy import select, update
from sqlalchemy.exc import OperationalError

from frepo_core.db import utc_now
from frepo_core.db.models import StoredObject
from frepo_core.errors import DatabaseUnavailableError, StorageUnavailable
from frepo_core.testing import Fail


def read(services, name):
    with services.stored_content.open(services.files.find(name).blob) as content:
        return content.read()


@pytest.fixture
def note_damage(services):
    def note(**values):
        values = {"state": "damaged", "since": utc_now(), "read_at": utc_now()} | values
        services.database.write(lambda session: session.execute(update(StoredObject).values(**values)))

    return note


@pytest.fixture
def spoil(tmp_path, keys):
    """Change the one file in the storage directly, without the service."""

    def spoil(do):
        do(tmp_path / "storage" / keys()[0])

    return spoil


DAMAGES = {
    "gone": lambda path: path.unlink(),
    "short": lambda path: path.write_bytes(b"he"),
    "empty": lambda path: path.write_bytes(b""),
    "long": lambda path: path.write_bytes(b"hello and more"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_an_upload_heals_missing_bytes_and_bytes_of_another_size(services, upload, spoil, keys, blob_keys, damage):
    name = upload(b"hello").file.stored_name
    spoil(DAMAGES[damage])
    again = upload(b"hello").file.stored_name

    assert (name, b"hello", 1, blob_keys()) == (again, read(services, name), len(keys()), keys())


@pytest.mark.databases
def test_an_upload_heals_a_blob_that_was_found_damaged(services, upload, spoil, note_damage, keys, blob_keys):
    name = upload(b"hello").file.stored_name
    spoil(lambda path: path.write_bytes(b"hellO"))
    note_damage()
    upload(b"hello")

    assert (b"hello", 1, blob_keys()) == (read(services, name), len(keys()), keys())


def test_a_healed_blob_is_no_longer_marked_as_damaged(services, upload, note_damage):
    upload(b"hello")
    note_damage()
    upload(b"hello")
    with services.database.reading() as session:
        marks = session.execute(select(StoredObject.state, StoredObject.read_at)).one()

    assert ("present", None) == tuple(marks)


def test_a_version_heals_too(services, upload, make_collection, push, spoil):
    name = upload(b"hello").file.stored_name
    spoil(DAMAGES["gone"])
    push(make_collection(), b"hello")

    assert b"hello" == read(services, name)


@pytest.mark.databases
def test_healing_stores_a_content_in_the_current_storage(
    services, upload, note_damage, keys, blob_keys, other_storage, storage
):
    name = upload(b"hello").file.stored_name
    storage.delete(keys()[0])
    note_damage(storage="other")
    upload(b"hello")

    assert (b"hello", 1) == (read(services, name), len(keys()))
    assert set(keys()) < set(blob_keys()), "the damaged one in the other storage may be right again"


@pytest.mark.databases
def test_damaged_bytes_are_kept_until_the_good_ones_are_committed(services, upload, note_damage, at_statement, state):
    upload(b"hello")
    note_damage()
    before = state()

    def fail():
        raise RuntimeError("gone")

    at_statement("UPDATE object", fail)
    with pytest.raises(RuntimeError):
        upload(b"hello")

    assert before == state()


def test_a_failed_healing_changes_nothing(wrap, upload, note_damage, state):
    upload(b"hello")
    note_damage()
    before = state()
    wrap(Fail("store"))
    with pytest.raises(StorageUnavailable):
        upload(b"hello")

    assert before == state()


@pytest.mark.parametrize("error", [None, lambda: RuntimeError("a bug in a plug-in")])
def test_damaged_bytes_that_cannot_be_deleted_do_not_fail_the_upload(services, wrap, upload, note_damage, keys, error):
    name = upload(b"hello").file.stored_name
    note_damage()
    wrap(Fail("delete", **({"error": error} if error else {})))
    upload(b"hello")

    assert (b"hello", 2) == (read(services, name), len(keys()))


@pytest.mark.databases
def test_two_concurrent_healings_leave_one_blob(services, upload, note_damage, at_once, keys, blob_keys):
    name = upload(b"hello").file.stored_name
    note_damage()
    at_once(lambda _: upload(b"hello"), range(4))

    assert (b"hello", 1, blob_keys()) == (read(services, name), len(keys()), keys())


@pytest.fixture
def leave(services, upload, sender, monkeypatch):
    """Store a content that nothing uses any more: its process ended before it deleted the bytes."""

    def leave(content):
        name = upload(content).file.stored_name
        with monkeypatch.context() as patch:
            patch.setattr(services.blobs, "collect", lambda content_ids: None)
            services.files.delete(name, "", by=sender)

    return leave


@pytest.mark.databases
def test_bytes_that_nothing_used_are_read_before_an_upload_relies_on_them(services, leave, upload, spoil, keys):
    leave(b"hello")
    spoil(lambda path: path.write_bytes(b"hellO"))
    name = upload(b"hello").file.stored_name

    assert (b"hello", 1) == (read(services, name), len(keys()))


def test_sound_bytes_that_nothing_used_are_used_again(leave, upload, keys):
    leave(b"hello")
    before = keys()
    upload(b"hello")

    assert before == keys()


def test_what_cannot_be_read_is_stored_anew(services, leave, wrap, upload, keys):
    leave(b"hello")
    before = keys()
    wrap(Fail("open"))
    upload(b"hello")

    assert not set(before) & set(keys())


def test_an_unavailable_storage_is_not_reported_as_damage(wrap, upload, state):
    upload(b"hello")
    before = state()
    wrap(Fail("stat"))
    with pytest.raises(StorageUnavailable):
        upload(b"hello", name="b.txt", password="x-5ecre7")

    assert before == state()


@pytest.mark.databases
def test_a_healing_with_an_unknown_outcome_keeps_both_keys(services, upload, note_damage, at_commit, keys):
    name = upload(b"hello").file.stored_name
    note_damage()
    at_commit(_fail_unknown)
    with pytest.raises(DatabaseUnavailableError):
        upload(b"hello")

    assert (2, b"hello") == (len(keys()), read(services, name))


def _fail_unknown(connection):
    raise OperationalError("COMMIT", {}, sqlite3.OperationalError("server closed"), connection_invalidated=True)
