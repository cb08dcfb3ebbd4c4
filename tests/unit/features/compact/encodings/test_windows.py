"""Contents that have the parts of their base in another order: several windows for a segment, in format 2."""

import random
from io import BytesIO

import pytest

from frepo_core.errors import DamagedBaseError, DamagedObjectError
from frepo_core.features.compact.encoder.clusters import MOST_BYTES, gather
from frepo_core.features.compact.encodings.decoder import DecodedContent
from frepo_core.features.compact.encodings.format import MOST_WINDOWS, read_head
from support.encodings.nights import interleaved, nights
from support.encodings.objects import EncodedObjects, sha256

MIB = 1 << 20


@pytest.fixture(scope="module")
def pair():
    """Two nights of four tables each, dumped in turns."""
    tables = [list(nights(2, 15_000, seed=seed)) for seed in range(4)]
    return [interleaved([table[night] for table in tables], seed=night) for night in range(2)]


def encoded(pair, **more):
    older, newer = pair
    objects = EncodedObjects()
    objects.add_raw(newer)
    return objects, objects.add(older, sha256(newer), **more)


@pytest.mark.costly
def test_interleaved_contents_need_several_windows(pair):
    (one, digest), (several, _) = encoded(pair), encoded(pair, has_windows=True)

    assert len(several.objects[digest]) * 2 < len(one.objects[digest])
    assert [1, 2] == [read_head(BytesIO(each.objects[digest]), digest).format for each in (one, several)]
    reader = several.open(digest)
    assert pair[0] == reader.read()
    reader.seek(5 * MIB - 100)
    assert pair[0][5 * MIB - 100 :][:200] == reader.read(100) + reader.read(100)


@pytest.mark.costly
def test_a_base_may_be_compressed_and_of_either_format(pair):
    older, newer = pair
    objects = EncodedObjects()
    objects.add(newer)
    middle = objects.add(older, sha256(newer), has_windows=True)
    last = objects.add(older[::-1] + older, middle)

    assert older == objects.open(middle).read()
    assert older[::-1] + older == objects.open(last).read()


@pytest.mark.costly
def test_each_changed_byte_of_entries_and_windows_is_found(pair):
    objects, digest = encoded(pair, has_windows=True)
    whole, newer = objects.objects[digest], pair[1]
    head = read_head(BytesIO(whole), digest)
    chance = random.Random(1)
    places = [chance.randrange(head.data, len(whole)) for _ in range(20)]
    for place in [*range(head.table, head.table + head.entry_size), *places]:
        wrong = bytearray(whole)
        wrong[place] ^= 1
        with pytest.raises(DamagedObjectError):
            DecodedContent(BytesIO(bytes(wrong)), digest=digest, open_base=lambda _: BytesIO(newer)).read()
    with pytest.raises(DamagedBaseError):
        DecodedContent(BytesIO(whole), digest=digest, open_base=lambda _: BytesIO(newer[::-1])).read()


def test_windows_are_few_and_small_and_those_with_most_chunks():
    places = sorted(start * 4 * MIB + chunk * 8192 for start in range(12) for chunk in range(5 + start * 10))

    found = gather(places, 48 * MIB)

    assert MOST_WINDOWS == len(found)
    assert sorted(found) == found
    assert sum(size for _, size in found) <= MOST_BYTES
    assert found[-1][0] + found[-1][1] <= 48 * MIB
    assert found[0][0] > 8 * MIB
    assert [] == gather([], MIB)
    assert [] == gather([0, 10 * MIB], 20 * MIB)
