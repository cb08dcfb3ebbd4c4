"""Histories of contents, encoded in chains, are read back byte for byte, whole and in ranges."""

import random
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frepo_core.errors import DamagedBaseError, DamagedObjectError
from frepo_core.features.compact.encoder.encoder import Base, encode
from frepo_core.features.compact.encodings.format import MAGIC
from support.encodings.histories import CHANGES, SEGMENT, history, text
from support.encodings.objects import EncodedObjects, sha256

HISTORIES = st.tuples(st.integers(0, 1 << 32), st.lists(st.sampled_from(sorted(CHANGES)), min_size=0, max_size=4))


@pytest.mark.costly
@given(HISTORIES, st.lists(st.tuples(st.floats(0, 1.1), st.floats(0, 1)), max_size=6))
def test_each_content_is_read_back_whole_and_in_ranges(what, ranges):
    contents = history(*what)
    objects = EncodedObjects(SEGMENT)
    digests = objects.add_chain(contents)

    for content, digest in zip(contents, digests, strict=True):
        assert content == objects.open(digest).read()
        reader = objects.open(digest)
        for start, length in ranges:
            first, size = round(start * len(content)), round(length * len(content))
            reader.seek(first)
            found = b""
            while len(found) < size and (piece := reader.read(size - len(found))):
                found += piece
            assert content[first : first + size] == found
            assert first + len(found) == reader.tell()


def test_a_buffered_reader_reads_lines_over_the_edges_of_segments():
    content = b"".join(b"%d\n" % number for number in range(30_000))
    objects = EncodedObjects(SEGMENT)
    reader = objects.open(objects.add(content, objects.add_raw(content[::-1])))

    assert content.splitlines(keepends=True) == list(reader)
    assert len(content) - 5 == reader.seek(-5, 2)
    assert content[-5:] == reader.read()
    assert b"" == reader.read(5)


@pytest.mark.parametrize("places", [9, 24])
def test_an_interrupted_encoding_leaves_no_object(places):
    content, base = text(random.Random(1), 8 * SEGMENT), text(random.Random(2), 16 * SEGMENT)
    target, calls = BytesIO(), []

    def keep_going():
        calls.append(None)
        if len(calls) == places:
            raise InterruptedError

    about = Base(content=BytesIO(base), digest=sha256(base), size=len(base))
    with pytest.raises(InterruptedError):
        encode(
            BytesIO(content),
            target,
            digest=sha256(content),
            size=len(content),
            base=about,
            segment_size=SEGMENT,
            keep_going=keep_going,
        )

    assert not target.getvalue().startswith(MAGIC)


@pytest.mark.parametrize("change", [b"", b"x", None], ids=["shorter", "longer", "other bytes"])
def test_content_and_base_that_are_not_their_own_are_not_encoded(change):
    right = text(random.Random(1), 3 * SEGMENT)
    wrong = {b"": right[:-1], b"x": right + b"x", None: b"?" + right[1:]}[change]
    about = {"digest": sha256(right), "size": len(right)}
    target = BytesIO()

    with pytest.raises(DamagedObjectError):
        encode(BytesIO(wrong), target, **about)
    with pytest.raises(DamagedBaseError):
        own = {"digest": sha256(b"other"), "size": 5}
        encode(BytesIO(b"other"), target, **own, base=Base(content=BytesIO(wrong), **about))
    assert not target.getvalue().startswith(MAGIC)


def test_a_content_is_not_its_own_base():
    about = {"digest": sha256(b"one"), "size": 3}

    with pytest.raises(ValueError, match="cannot be its own base"):
        encode(BytesIO(b"one"), BytesIO(), **about, base=Base(content=BytesIO(b"one"), **about))
