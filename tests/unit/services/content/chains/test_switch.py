"""A blob is stored in another way by one transaction. Nothing that uses it notices."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from frepo_core.db.models import StoredObject
from frepo_core.errors import DamagedObjectError


def replaced(services):
    with services.database.reading() as session:
        superseded = select(StoredObject).where(StoredObject.state == "superseded")
        return session.scalars(superseded.order_by(StoredObject.id)).all()


def read(services, name):
    with services.stored_content.open(services.files.find(name).blob) as content:
        return content.read()


@pytest.mark.databases
def test_contents_are_the_same_at_every_depth(services, blobs, contents, uploaded):
    blobs.chain(contents, newest="zstd")

    assert contents == [read(services, name) for name in uploaded]
    assert ["delta", "delta", "delta", "zstd"] == [blobs.row(content).encoding for content in contents]
    assert [blobs.row(content).digest for content in contents[1:]] == [
        blobs.row(content).base_digest for content in contents[:3]
    ]


@pytest.mark.databases
def test_a_row_has_the_size_and_digest_of_its_object(blobs, contents, uploaded, storage):
    blobs.chain(contents)
    row = blobs.row(contents[0])

    with storage.open(row.key) as file:
        stored = file.read()
    assert (len(contents[0]), len(stored)) == (row.size, row.stored_size)
    assert stored.startswith(b"\x89frepo")
    assert len(stored) < row.size / 3


@pytest.mark.databases
def test_what_is_expanded_is_raw_again(services, blobs, contents, uploaded, keys):
    blobs.chain(contents)
    assert blobs.expand(contents[1])
    row = blobs.row(contents[1])

    assert ("raw", None, None, None) == (row.encoding, row.stored_size, row.stored_digest, row.base_digest)
    assert contents == [read(services, name) for name in uploaded]
    assert not blobs.expand(contents[1])


@pytest.mark.databases
def test_the_bytes_before_are_deleted_after_two_days(services, blobs, contents, uploaded, keys, blob_keys):
    before = blob_keys()
    blobs.encode(contents[0], contents[1])

    def delete():
        return services.blobs.gate.delete_due(services.backends.current).objects

    assert 0 == delete()
    assert {*before, *blob_keys()} == {*keys()} - {key for key in keys() if key.startswith("frepo")}
    with services.database.reading() as session:
        end = session.scalar(select(StoredObject.delete_after).where(StoredObject.state == "superseded"))
    assert timedelta(hours=47) < end - blobs.row(contents[0]).read_at < timedelta(hours=49)
    services.database.execute(
        update(StoredObject).where(StoredObject.slot.is_(None)).values(delete_after=end - timedelta(hours=49))
    )
    assert 1 == delete()
    assert [] == replaced(services)
    assert set(blob_keys()) == {*keys()} - {key for key in keys() if key.startswith("frepo")}


def test_a_circle_is_refused(blobs, contents, uploaded):
    blobs.chain(contents)
    row, base = blobs.row(contents[3]), blobs.row(contents[0])

    assert not blobs.encode(contents[3], contents[0])
    assert blobs.row(contents[3]).key == row.key
    assert blobs.row(contents[0]).key == base.key


def test_a_chain_is_no_deeper_than_is_allowed_above_and_below(blobs, contents, uploaded):
    blobs.encode(contents[0], contents[1])
    blobs.encode(contents[2], contents[3])

    assert not blobs.encode(contents[1], contents[2], most_levels=2)
    assert blobs.encode(contents[1], contents[2], most_levels=3)


def test_a_blob_that_was_changed_meanwhile_is_not_switched(services, blobs, contents, uploaded, keys):
    seen = blobs.row(contents[0])
    blobs.encode(contents[0])
    before = keys()
    blobs.row = lambda content, row=blobs.row: seen if content is contents[0] else row(content)

    assert not blobs.encode(contents[0], contents[1])
    assert before == keys()


def test_a_blob_in_doubt_is_no_base(services, blobs, contents, uploaded):
    base = update(StoredObject).where(StoredObject.id == blobs.row(contents[1]).id)
    services.database.execute(base.values(state="damaged"))

    assert not blobs.encode(contents[0], contents[1])


def test_the_one_who_asks_may_refuse_in_the_transaction(blobs, contents, uploaded, keys):
    asked = []
    before = keys()

    def allow(session, blob, base):
        asked.append((blob.digest, base.digest))
        return False

    assert not blobs.encode(contents[0], contents[1], allow=allow)
    assert [(blobs.row(contents[0]).digest, blobs.row(contents[1]).digest)] == asked
    assert before == keys()


def test_an_object_that_cannot_be_read_back_is_not_used(services, blobs, contents, uploaded, keys, storage):
    before, store = keys(), storage._backend.store

    def store_other(key, content, size):
        data = bytearray(content.read())
        data[-10] ^= 1
        from io import BytesIO

        store(key, BytesIO(bytes(data)), size)

    storage._backend.store = store_other
    with pytest.raises(DamagedObjectError, match="read back"):
        blobs.encode(contents[0], contents[1])

    assert ("raw", before) == (blobs.row(contents[0]).encoding, keys())


@pytest.mark.databases
def test_a_base_is_used(services, blobs, contents, uploaded, keys, sender, caplog):
    blobs.chain(contents)
    for name in uploaded[1:]:
        services.files.delete(name, "", by=sender)

    assert contents[0] == read(services, uploaded[0])
    assert "was not collected" not in caplog.text  # the database would refuse it, too
    services.files.delete(uploaded[0], "", by=sender)
    assert [] == [
        key for key in keys() if not key.startswith("frepo") and key not in {row.key for row in replaced(services)}
    ]
