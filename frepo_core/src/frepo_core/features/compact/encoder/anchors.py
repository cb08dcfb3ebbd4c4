"""Finds the place of a part of a content in its base."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from statistics import median_low

import xxhash

from ..encodings import libraries

CHUNK_SIZE = 8 << 10
MOST = 250_000
# Instead of an offset, for a chunk that a base contains several times: it says nothing about the place.
_AMBIGUOUS = (1 << 64) - 1


class Anchors:
    """The chunks of a base: where each is, by its hash. At most `MOST` are kept, in two arrays of 8 bytes for each.

    Boundaries of chunks depend on the content around them alone, so equal parts of two contents have equal chunks,
    wherever they are. If there are too many, those with some hashes are dropped: the same ones in both contents.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._mask = 0
        self._hashes, self._offsets = array("Q"), array("Q")
        self._chunker = libraries.FastCDC(CHUNK_SIZE, min_size=CHUNK_SIZE // 4, max_size=CHUNK_SIZE * 4)

    def __len__(self) -> int:
        return len(self._hashes)

    def add(self, block: bytes, position: int) -> None:
        """Add the chunks of a block of the base, which begins at `position`. Call `sort` after the last one."""
        for offset, value in self._chunks(block):
            self._hashes.append(value)
            self._offsets.append(position + offset)
        if len(self._hashes) > self._most:
            self.sort()
            while len(self._hashes) > self._most // 2:
                self._thin()

    def sort(self) -> None:
        """Sort the chunks by hash, and mark those that occur more than once."""
        hashes, offsets = array("Q"), array("Q")
        for number in sorted(range(len(self._hashes)), key=self._hashes.__getitem__):
            value = self._hashes[number]
            if hashes and hashes[-1] == value:
                offsets[-1] = _AMBIGUOUS
            else:
                hashes.append(value)
                offsets.append(self._offsets[number])
        self._hashes, self._offsets = hashes, offsets

    def find_shift(self, part: bytes, position: int) -> int | None:
        """Return how many bytes later than `position` the base has what is like the part; None if it has nothing."""
        shifts = [
            there - position - offset
            for offset, value in self._chunks(part)
            if (there := self._find(value)) is not None
        ]
        return median_low(shifts) if shifts else None

    def find_places(self, part: bytes) -> list[int]:
        """Return where the base has chunks of the part, in ascending order."""
        return sorted(there for _, value in self._chunks(part) if (there := self._find(value)) is not None)

    def _find(self, value: int) -> int | None:
        place = bisect_left(self._hashes, value)
        if place == len(self._hashes) or self._hashes[place] != value or self._offsets[place] == _AMBIGUOUS:
            return None
        return self._offsets[place]

    def _chunks(self, block: bytes) -> Iterator[tuple[int, int]]:
        for chunk in self._chunker.cut_buf(block):
            value = xxhash.xxh3_64_intdigest(chunk.data)
            if not value & self._mask:
                yield chunk.offset, value

    def _thin(self) -> None:
        """Drop half of the chunks, by the next bit of their hashes."""
        self._mask = self._mask << 1 | 1
        kept = [number for number, value in enumerate(self._hashes) if not value & self._mask]
        self._hashes = array("Q", (self._hashes[number] for number in kept))
        self._offsets = array("Q", (self._offsets[number] for number in kept))
