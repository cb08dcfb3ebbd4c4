"""Objects that earlier releases wrote are decoded forever. A file is never changed; a new format adds further ones."""

import hashlib
from io import BytesIO
from pathlib import Path

import pytest

from frepo_core.features.compact.encodings.decoder import DecodedContent

KNOWN = Path(__file__).with_name("known")


def content(size):
    """Return bytes that repeat, but not all of them: 4 KiB that depend on a number, seven times each."""
    pieces = []
    for number in range(-(-size // 28_672)):
        pieces += [hashlib.shake_128(b"%d" % (number // 100)).digest(4096)] * 7
    return b"".join(pieces)[:size]


def edited(whole):
    """Return another content: a part is inserted, and three others are changed."""
    changed = bytearray(b"inserted" * 1000 + whole)
    for number, place in enumerate((77_777, len(changed) // 2, len(changed) - 5)):
        changed[place : place + 5] = b"new %d" % number
    return bytes(changed)


BIG = content(9_000_000)
SMALL = content(200_000)
UNIQUE = hashlib.shake_128(b"unique").digest(5_000_000)
NAMES = {
    "1-zstd-small-segments": (SMALL, None),
    "1-delta-small-segments": (edited(SMALL), SMALL),
    "1-zstd": (BIG, None),
    "1-delta": (edited(BIG), BIG),
    "1-empty": (b"", None),
    "2-delta-windows": (UNIQUE[3_000_000:] + UNIQUE[:3_000_000], UNIQUE),
}


@pytest.mark.parametrize("name", NAMES)
def test_an_object_of_an_earlier_release_is_decoded(name):
    right, base = NAMES[name]
    stored = (KNOWN / name).open("rb")
    reader = DecodedContent(stored, digest=hashlib.sha256(right).hexdigest(), open_base=lambda _: BytesIO(base))

    assert right == reader.read()
    assert (None if base is None else hashlib.sha256(base).hexdigest()) == reader.head.base
    reader.close()


def test_each_known_file_is_tried():
    assert set(NAMES) == {path.name for path in KNOWN.iterdir()}
