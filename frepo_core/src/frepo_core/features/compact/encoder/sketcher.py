"""Makes the sketch of a content, which says how much it shares with another one: see `likeness`."""

import xxhash

from ..encodings import libraries
from ..likeness import BINS, EMPTY

# The way a sketch is made. Sketches of another one are not compared.
METHOD = 1
_CHUNK = 2 << 10
# Of each chunk, so many bytes are hashed: a changed row spoils its own place, not the rows behind it.
_PLACE = 64


class Sketcher:
    """Collects the least hashes of the places where content-defined chunks begin."""

    def __init__(self) -> None:
        self.minima = [EMPTY] * BINS
        self._chunker = libraries.FastCDC(_CHUNK, min_size=_CHUNK // 4, max_size=_CHUNK * 4)

    def add(self, block: bytes) -> None:
        """Add a block of the content. The chunk at its start counts for nothing: its place depends on the block."""
        minima, hash_of = self.minima, xxhash.xxh3_64_intdigest
        view = memoryview(block)
        for chunk in self._chunker.cut_buf(block):
            if start := chunk.offset:
                value = hash_of(view[start : start + _PLACE])
                number, value = value >> 58, value >> 26 & EMPTY
                minima[number] = min(minima[number], value)
