"""A damaged byte is found, exactly the contents that need it are named, and an upload heals them."""

import random
from io import BytesIO

import pytest
from sqlalchemy import select

from frepo_core.db.models import Event
from frepo_core.domain.event_kinds import EventKind
from frepo_core.errors import DamagedObjectError
from frepo_core.features.compact.encoder.encoder import encode
from frepo_core.features.compact.encodings.format import ENTRY_SIZE, HEAD_SIZE, SMALL_SEGMENT, Head
from frepo_core.services.upkeep.storage import verify

PARTS = {
    "magic": lambda size: 3,
    "head": lambda size: 60,
    "check of the head": lambda size: HEAD_SIZE - 2,
    "table": lambda size: HEAD_SIZE + 5,
    "check of an entry": lambda size: HEAD_SIZE + ENTRY_SIZE - 1,
    "segment": lambda size: size - 5,
}


@pytest.fixture
def flip(tmp_path, blobs):
    """Change one bit of the stored object of a content. `place` gets its size."""

    def flip(content, place):
        path = tmp_path / "storage" / blobs.row(content).key
        data = bytearray(path.read_bytes())
        data[place(len(data))] ^= 16
        path.write_bytes(data)

    return flip


def damaged(services):
    report = verify(services.database, services.backends)
    return {damage.digest: damage.problem for damage in report.damaged}


@pytest.mark.parametrize("part", PARTS)
def test_a_flipped_bit_damages_the_content_and_what_needs_it(services, blobs, contents, uploaded, flip, part):
    blobs.chain(contents, newest="zstd")
    blobs.end_superseded()
    flip(contents[2], PARTS[part])
    found = damaged(services)

    own = blobs.row(contents[2]).digest
    assert own in found
    assert own in found[blobs.row(contents[1]).digest]
    assert blobs.row(contents[3]).digest not in found
    assert all(blobs.row(content).state == "damaged" for content in contents[:3] if blobs.row(content).digest in found)


def test_a_wrong_whole_with_sound_segments_is_damaged(services, blobs, upload, tmp_path):
    """As a wrong encoder would write it: each checksum is that of what was written."""
    content = random.Random(1).randbytes(5000)  # which is not compressed: the object of another one is as long
    upload(content)
    blobs.encode(content)
    row = blobs.row(content)
    another = BytesIO()
    with pytest.raises(DamagedObjectError):
        encode(BytesIO(content[:-1] + b"!"), another, digest=row.digest, size=row.size)
    head = Head(digest=row.digest, size=row.size, stored=len(another.getvalue()), segment=SMALL_SEGMENT)
    (tmp_path / "storage" / row.key).write_bytes(head.pack() + another.getvalue()[HEAD_SIZE:])

    assert {row.digest: "its SHA-256 is wrong"} == damaged(services)


def test_an_upload_heals_a_damaged_base_and_what_needs_it(services, blobs, contents, uploaded, upload, flip, download):
    blobs.chain(contents, newest="zstd")
    blobs.end_superseded()
    flip(contents[2], PARTS["head"])
    assert 3 == len(damaged(services))
    download(uploaded[0], 500)

    upload(contents[2], "healing.sql")

    assert contents == [download(name).body for name in uploaded]
    assert "raw" == blobs.row(contents[2]).encoding
    assert {} == damaged(services)
    with services.database.reading() as session:
        kinds = session.scalars(select(Event.kind)).all()
    assert (3, 3) == (kinds.count(EventKind.BLOB_DAMAGED.value), kinds.count(EventKind.BLOB_HEALED.value))


def test_a_raw_base_that_is_damaged_is_found_by_what_needs_it(services, blobs, contents, uploaded, flip, download):
    blobs.chain(contents)
    blobs.end_superseded()
    flip(contents[3], lambda size: 1000)

    download(uploaded[2], 503)
    assert blobs.row(contents[3]).digest in damaged(services)[blobs.row(contents[2]).digest]


def test_a_damaged_byte_that_no_window_has_affects_nobody_else(services, blobs, upload, flip):
    """The second content has no bytes after the first segment, so it needs only the start of its base."""
    base = b"".join(b"%d," % number for number in range(200_000))
    upload(base)
    upload(base[:1000])
    blobs.encode(base[:1000], base)
    flip(base, lambda size: size - 1)

    assert {blobs.row(base).digest} == {*damaged(services)}


def test_an_upload_of_a_content_whose_base_is_missing_is_stored_whole(
    services, blobs, contents, uploaded, upload, tmp_path, download
):
    blobs.chain(contents)
    (tmp_path / "storage" / blobs.row(contents[3]).key).unlink()
    upload(contents[0], "again.sql")

    assert "raw" == blobs.row(contents[0]).encoding
    assert contents[0] == download(uploaded[0]).body
