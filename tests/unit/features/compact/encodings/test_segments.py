"""How large segments are: small ones, so that a part of an old version costs little, unless they find too little."""

import random
from io import BytesIO

import pytest

from frepo_core.features.compact.encoder.encoder import encode
from frepo_core.features.compact.encodings import decoder
from frepo_core.features.compact.encodings.format import LARGE_SEGMENT, SMALL_SEGMENT
from support.encodings.nights import interleaved, nights
from support.encodings.objects import EncodedObjects, sha256

MIB = 1 << 20


def changed(content, number):
    """Change some bytes of each quarter of a MiB, and let all behind the middle begin a little later."""
    chance, found = random.Random(number), bytearray(content)
    for start in range(0, len(found) - MIB // 4, MIB // 4):
        found[start + chance.randrange(MIB // 4 - 8)] ^= 1
    middle = len(found) // 2
    return bytes(found[:middle] + b"a new row\n" + found[middle:])


def decoded(monkeypatch, work):
    """Return how many bytes are decoded for something, of all contents."""
    sizes, frame = [], decoder.decompress

    def note(data, size, prefix):
        sizes.append(size)
        return frame(data, size, prefix)

    with monkeypatch.context() as patched:
        patched.setattr(decoder, "decompress", note)
        work()
    return sum(sizes)


@pytest.mark.costly
def test_for_a_mib_of_the_oldest_little_is_decoded_however_large_it_is(monkeypatch):
    contents = [random.Random(1).randbytes(48 * MIB)]
    for number in range(4):
        contents.append(changed(contents[-1], number))
    objects = EncodedObjects()
    oldest, *_ = objects.add_chain(contents)

    def read_part():
        reader = objects.open(oldest)
        reader.seek(29 * MIB - 1000)
        while reader.tell() < 30 * MIB - 1000:
            reader.read(30 * MIB - 1000 - reader.tell())

    part, whole = decoded(monkeypatch, read_part), decoded(monkeypatch, lambda: objects.open(oldest).read())

    assert 5 * len(contents[0]) <= whole <= 5 * len(contents[-1])
    assert part < 32 * MIB  # with large segments, 100 MiB


@pytest.mark.costly
def test_parts_without_a_certain_place_are_looked_for_with_large_segments():
    tables = [list(nights(2, 15_000, seed=seed)) for seed in range(4)]
    older, newer = (interleaved([table[night] for table in tables], seed=night) for night in range(2))
    objects = EncodedObjects()
    base = objects.add_raw(newer)

    assert LARGE_SEGMENT == objects.open(objects.add(older, base)).head.segment
    assert SMALL_SEGMENT == objects.open(objects.add(older)).head.segment
    assert SMALL_SEGMENT == objects.open(objects.add(changed(newer, 1), base)).head.segment


def test_segments_have_a_mib_if_nothing_speaks_against_that():
    objects, content = EncodedObjects(), random.Random(1).randbytes(3 * MIB)
    base = objects.add_raw(changed(content, 1))

    assert [MIB, MIB] == [objects.open(objects.add(content, one)).head.segment for one in (None, base)]


def test_each_4_mib_are_called_once_whatever_the_segments_are():
    content, calls = random.Random(1).randbytes(9 * MIB), []
    about = {"digest": sha256(content), "size": len(content), "keep_going": lambda: calls.append(None)}

    for size in (SMALL_SEGMENT, LARGE_SEGMENT):
        encode(BytesIO(content), BytesIO(), segment_size=size, **about)

    assert 3 + 3 == len(calls)
