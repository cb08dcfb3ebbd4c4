"""Damaged objects and bases are found in each part, and the error says which of them it is."""

import random
from io import BytesIO

import pytest

from frepo_core.errors import ConfigurationError, DamagedBaseError, DamagedObjectError
from frepo_core.features.compact.encodings.decoder import DecodedContent
from frepo_core.features.compact.encodings.format import ENTRY_SIZE, Head, read_head
from support.encodings.nights import nights
from support.encodings.objects import EncodedObjects, sha256

SEGMENT = 64 << 10


class Chain(EncodedObjects):
    """Three nights: the first is a delta of the second, and that of the third, which is raw."""

    def __init__(self):
        super().__init__(SEGMENT)
        self.contents = list(nights(3, 3000))
        self.newest = self.add_raw(self.contents[2])
        self.middle = self.add(self.contents[1], self.newest)
        self.oldest = self.add(self.contents[0], self.middle)


@pytest.fixture
def chain():
    return Chain()


def flip(data, place):
    return data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :]


def segments(stored, digest):
    """Return where each segment of an object begins and ends."""
    head = read_head(BytesIO(stored), digest)
    entries = [stored[head.table + n * ENTRY_SIZE :][:ENTRY_SIZE] for n in range(head.count)]
    starts = [int.from_bytes(entry[:8], "little") for entry in entries]
    return list(zip(starts, [*starts[1:], len(stored)], strict=True))


def test_a_flipped_bit_in_any_byte_of_an_object_is_found(chain):
    whole = chain.objects[chain.oldest]
    assert chain.contents[0] == chain.open(chain.oldest).read()
    # Every byte of the head and the table, and each eleventh of the segments.
    data = segments(whole, chain.oldest)[0][0]
    for place in [*range(data), *range(data, len(whole), 11), len(whole) - 1]:
        chain.objects[chain.oldest] = flip(whole, place)
        with pytest.raises(DamagedObjectError) as error:
            chain.open(chain.oldest).read()
        assert chain.oldest == error.value.digest


def test_a_damaged_segment_leaves_the_others_readable_and_is_named(chain):
    whole = chain.objects[chain.oldest]
    start, _ = segments(whole, chain.oldest)[2]
    chain.objects[chain.oldest] = flip(whole, start + 9)
    reader = chain.open(chain.oldest)

    reader.seek(2 * SEGMENT + 5)
    with pytest.raises(DamagedObjectError, match=f"{chain.oldest}, segment 2 is damaged") as error:
        reader.read(1)
    assert 2 == error.value.segment
    reader.seek(SEGMENT)
    assert chain.contents[0][SEGMENT : 2 * SEGMENT] == reader.read(SEGMENT)
    reader.seek(3 * SEGMENT)
    assert chain.contents[0][3 * SEGMENT :] == reader.read()


def test_objects_that_are_cut_extended_or_those_of_another_content_are_found(chain):
    whole = chain.objects[chain.oldest]
    wrong = [whole[:size] for size in (0, 5, 11, 300, 511, 512, 520, 600, len(whole) - 1)]
    for stored in [*wrong, whole + b"x", whole * 2, chain.objects[chain.middle], b"x" * 5000]:
        with pytest.raises(DamagedObjectError) as error:
            DecodedContent(BytesIO(stored), digest=chain.oldest, open_base=chain.open_base)
        assert chain.oldest == error.value.digest


def test_swapped_and_repeated_segments_and_entries_are_found(chain):
    # Of equal sizes, because the content is not compressible and the same for a base that is like nothing.
    content = random.Random(5).randbytes(4 * SEGMENT)
    digest = chain.add(content)
    whole = chain.objects[digest]
    (a, b), (c, d) = segments(whole, digest)[1:3]
    e, f = 512 + ENTRY_SIZE, 512 + 2 * ENTRY_SIZE
    assert b - a == d - c

    swapped = whole[:a] + whole[c:d] + whole[a:b] + whole[d:]
    repeated = whole[:c] + whole[a:b] + whole[d:]
    repeated_entry = whole[:f] + whole[e:f] + whole[f + ENTRY_SIZE :]
    both_swapped = swapped[:e] + whole[f : f + ENTRY_SIZE] + whole[e:f] + swapped[f + ENTRY_SIZE :]
    for stored, segment in ((swapped, 1), (repeated, 2), (repeated_entry, 2), (both_swapped, 1)):
        chain.objects[digest] = stored
        with pytest.raises(DamagedObjectError) as error:
            chain.open(digest).read()
        assert segment == error.value.segment


def test_a_table_of_another_content_is_found(chain):
    other = chain.objects[chain.add(chain.contents[0], chain.newest)]
    whole = chain.objects[chain.middle]
    chain.objects[chain.middle] = whole[:512] + other[512 : 512 + ENTRY_SIZE] + whole[512 + ENTRY_SIZE :]

    with pytest.raises(DamagedObjectError, match="its entry in the table is wrong"):
        chain.open(chain.middle).read()


@pytest.mark.parametrize("damage", ["flipped", "shorter", "empty", "another"])
def test_a_damaged_base_is_named_and_its_dependent_is_not_blamed(chain, damage):
    base = chain.contents[2]
    wrong = {"flipped": flip(base, 2 * SEGMENT), "shorter": base[:-9], "empty": b"", "another": base[::-1]}
    chain.raw[chain.newest] = wrong[damage]

    with pytest.raises(
        DamagedBaseError, match=f"{chain.middle}, segment .* because of its base {chain.newest}"
    ) as found:
        chain.open(chain.middle).read()
    assert (chain.middle, chain.newest) == (found.value.digest, found.value.base)
    # Two levels above, the error names the one below, and that names its own base.
    with pytest.raises(DamagedBaseError) as found:
        chain.open(chain.oldest).read()
    assert (chain.oldest, chain.middle) == (found.value.digest, found.value.base)
    assert isinstance(found.value.__cause__, DamagedBaseError)
    assert chain.newest == found.value.__cause__.base


def test_a_damaged_encoded_base_is_named_with_its_segment(chain):
    whole = chain.objects[chain.middle]
    start, _ = segments(whole, chain.middle)[1]
    chain.objects[chain.middle] = flip(whole, start + 3)

    with pytest.raises(DamagedBaseError, match=f"{chain.middle}, segment 1 is damaged") as found:
        chain.open(chain.oldest).read()
    assert chain.middle == found.value.__cause__.digest
    assert 1 == found.value.__cause__.segment
    reader = chain.open(chain.oldest)
    reader.seek(-10, 2)
    assert chain.contents[0][-10:] == reader.read(10)


def test_a_wrong_whole_withholds_its_last_piece(chain):
    """All checksums of segments are right, and the SHA-256 in the head is not: what a wrong encoder would write."""
    digest = chain.add(b"one content")
    whole, wrong = chain.objects[digest], sha256(b"another")
    head = read_head(BytesIO(whole), digest)
    entry = whole[512 : 512 + ENTRY_SIZE]
    other = Head(digest=wrong, size=head.size, stored=head.stored, segment=SEGMENT)
    from frepo_core.features.compact.encodings.format import unpack_entry

    table = unpack_entry(entry, head, 0).pack(wrong, 0)
    reader = DecodedContent(BytesIO(other.pack() + table + whole[512 + ENTRY_SIZE :]), digest=wrong, open_base=None)

    assert b"one" == reader.read(3)
    for _ in range(2):
        with pytest.raises(DamagedObjectError, match="its SHA-256 is wrong"):
            reader.read(100)
    reader.seek(4)
    assert b"con" == reader.read(3)


def test_an_object_of_a_newer_format_is_not_damaged(chain):
    import json
    import zlib

    digest = chain.middle
    whole = chain.objects[digest]
    fields = json.loads(whole[12:508])
    for change in ({"format": 3}, {"codec": "brotli"}, {"segment": 1 << 30}):
        start = whole[:12] + json.dumps(fields | change).encode().ljust(496)
        stored = start + zlib.crc32(start).to_bytes(4, "little") + whole[512:]
        with pytest.raises(ConfigurationError, match="which this version of frepo does not know"):
            DecodedContent(BytesIO(stored), digest=digest, open_base=chain.open_base)


def test_what_the_storage_raises_is_passed_on(chain):
    def open_base(digest):
        raise OSError(f"no route to {digest}")

    reader = DecodedContent(BytesIO(chain.objects[chain.middle]), digest=chain.middle, open_base=open_base)
    with pytest.raises(OSError, match=f"no route to {chain.newest}"):
        reader.read()
