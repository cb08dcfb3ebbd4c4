"""Finds for each segment of a content the place in its base that is most like it."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from statistics import median_low
from typing import BinaryIO

import xxhash

from . import libraries
from .windows import Windows

CHUNK_SIZE = 32 << 10
MOST = 250_000
# Instead of an offset, for a chunk that a base contains several times: it says nothing about the place.
_AMBIGUOUS = (1 << 64) - 1
# zstd takes no shorter prefix.
_LEAST_WINDOW = 8


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

    def find_shift(self, segment: bytes, position: int) -> int | None:
        """Return how many bytes later than `position` the base has what is like the segment; None if it has nothing."""
        shifts = [
            there - position - offset
            for offset, value in self._chunks(segment)
            if (there := self._find(value)) is not None
        ]
        return median_low(shifts) if shifts else None

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


class Alignment:
    """Chooses the window of the base for each segment of a content, from the first to the last."""

    def __init__(self, anchors: Anchors, base: BinaryIO, *, size: int, margin: int) -> None:
        """`size`: of the base; `margin`: what a window has before and after the place of its segment, in bytes."""
        self._anchors = anchors
        self._windows = Windows(base)
        self._size = size
        self._margin = margin
        self._shift = 0

    def read_window(self, segment: bytes, position: int) -> tuple[int, bytes | bytearray]:
        """Return where the window begins, and its bytes. A segment like nothing in the base follows the one before it.

        Windows must move ahead where the contents do, or a base that is encoded itself is decoded more than once.
        """
        shift = self._anchors.find_shift(segment, position)
        if shift is not None:
            self._shift = shift
        start = max(0, position + self._shift - self._margin)
        end = min(position + self._shift + len(segment) + self._margin, self._size)
        return (start, self._windows.read(start, end - start)) if end - start >= _LEAST_WINDOW else (0, b"")
