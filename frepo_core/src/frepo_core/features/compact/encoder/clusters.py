"""Puts windows together from the places where a base has parts of a segment: it may have them in another order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..encodings.format import MOST_WINDOWS
from .anchors import CHUNK_SIZE

MOST_BYTES = 12 << 20
# What is nearer to each other becomes one window.
_GAP = 256 << 10
# What changed lies next to what did not.
_MARGIN = 64 << 10
# A window with fewer chunks is an accident.
_LEAST_CHUNKS = 4


@dataclass
class _Cluster:
    start: int
    end: int
    chunks: int

    @property
    def size(self) -> int:
        return self.end - self.start


def gather(places: Sequence[int], size: int) -> list[tuple[int, int]]:
    """Return the offsets and lengths of at most eight windows of a base of `size` bytes, in ascending order.

    `places` are where the chunks begin, in ascending order. If they are too many, those with the fewest chunks for
    their bytes are left out.
    """
    clusters: list[_Cluster] = []
    for place in places:
        if clusters and place - clusters[-1].end <= _GAP:
            clusters[-1].end, clusters[-1].chunks = place, clusters[-1].chunks + 1
        else:
            clusters.append(_Cluster(place, place, 1))
    for one in clusters:
        one.start, one.end = max(0, one.start - _MARGIN), min(size, one.end + 2 * CHUNK_SIZE + _MARGIN)
    best = sorted(clusters, key=lambda one: one.chunks / (one.size + _GAP), reverse=True)
    return sorted(_taken(one for one in best if one.chunks >= _LEAST_CHUNKS))


def _taken(clusters: Iterable[_Cluster]) -> list[tuple[int, int]]:
    taken, left = list[tuple[int, int]](), MOST_BYTES
    for one in clusters:
        if len(taken) < MOST_WINDOWS and one.size <= left:
            taken.append((one.start, one.size))
            left -= one.size
    return taken
