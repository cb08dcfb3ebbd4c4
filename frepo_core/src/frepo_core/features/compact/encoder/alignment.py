"""Chooses for each segment of a content the window of its base that is most like it, and how large segments are."""

from typing import BinaryIO

from ..encodings.format import LARGE_SEGMENT, SMALL_SEGMENT, read_fully
from .anchors import Anchors
from .clusters import gather

# A window that has this part of what the base has of a segment needs no other ones.
ENOUGH = 0.8
# The start and the end of a segment are looked for first. If both are found, the window needs no wide margin.
_SAMPLE = 256 << 10
_NARROW = 64 << 10
# zstd takes no shorter prefix.
_LEAST_WINDOW = 8
# Of a content, so many places are looked for.
_PLACES = 8
# The table of a larger content would take too much memory.
_MOST_SMALL = 64 << 30


def choose_segment_size(content: BinaryIO, size: int, base_size: int, anchors: Anchors | None) -> int:
    """Return the size of the segments of a content. It is read at a few places, and again from its start afterwards.

    Of small ones, little is decoded for a part of a content. But their windows are small, too: a content whose parts
    have no certain place in the base finds more of them with large segments.
    """
    if size > _MOST_SMALL:
        return LARGE_SEGMENT
    if anchors is None or size <= SMALL_SEGMENT:
        return SMALL_SEGMENT
    alignment = Alignment(anchors, size=base_size, margin=SMALL_SEGMENT // 4)
    count = size // SMALL_SEGMENT
    starts = [number * count // _PLACES * SMALL_SEGMENT for number in range(_PLACES)]
    found = [is_one for start in starts if (is_one := alignment.is_in_one_place(content, start)) is not None]
    content.seek(0)
    return SMALL_SEGMENT if found and 2 * sum(found) >= len(found) else LARGE_SEGMENT


class Alignment:
    """The windows of the segments of one content, from the first to the last."""

    def __init__(self, anchors: Anchors, *, size: int, margin: int) -> None:
        """`size`: of the base; `margin`: what a window has before and after a segment whose ends are not found."""
        self._anchors = anchors
        self._size = size
        self._margin = margin
        self._shift = 0

    def find_window(self, segment: bytes, position: int) -> tuple[int, int]:
        """Return where the window begins, and its length; 0 for a segment that gets none.

        A segment like nothing in the base follows the one before it. Windows must move ahead where the contents do, or
        a base that is encoded itself is decoded more than once.
        """
        start, end = self._find_ends(segment, position) or self._find_place(segment, position)
        start, end = max(0, start), min(end, self._size)
        return (start, end - start) if end - start >= _LEAST_WINDOW else (0, 0)

    def find_windows(self, segment: bytes, start: int, length: int) -> list[tuple[int, int]]:
        """Return several windows for a segment whose chunks are in other places than in the one window found for it.

        None if that has enough of them.
        """
        places = self._anchors.find_places(segment)
        inside = sum(start <= place < start + length for place in places)
        return [] if inside >= ENOUGH * len(places) else gather(places, self._size)

    def is_in_one_place(self, content: BinaryIO, position: int) -> bool | None:
        """Return whether the base has about as much between the start and the end of a small segment.

        None if it has not both.
        """
        content.seek(position)
        segment = read_fully(content, SMALL_SEGMENT)
        if None in self._find_shifts(segment, position):
            return None
        return self._find_ends(segment, position) is not None

    def _find_ends(self, segment: bytes, position: int) -> tuple[int, int] | None:
        """Return the window from the place of the first bytes to that of the last ones; None if it would be too large.

        It is also None if they are not found, or if less than half of the segment is between them.
        """
        first, last = self._find_shifts(segment, position)
        if first is None or last is None:
            return None
        start, end = position + first - _NARROW, position + len(segment) + last + _NARROW
        if not len(segment) // 2 <= end - start <= len(segment) + 2 * self._margin:
            return None
        self._shift = last
        return start, end

    def _find_shifts(self, segment: bytes, position: int) -> tuple[int | None, int | None]:
        """Return how much later the base has the first bytes of a segment, and the last ones."""
        if len(segment) <= 2 * _SAMPLE:
            return None, None
        end = position + len(segment) - _SAMPLE
        return self._anchors.find_shift(segment[:_SAMPLE], position), self._anchors.find_shift(segment[-_SAMPLE:], end)

    def _find_place(self, segment: bytes, position: int) -> tuple[int, int]:
        shift = self._anchors.find_shift(segment, position)
        if shift is not None:
            self._shift = shift
        start = position + self._shift
        return start - self._margin, start + len(segment) + self._margin
