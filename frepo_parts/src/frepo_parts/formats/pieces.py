"""Where a part is in its content: pieces that follow each other, as the `place` of a part keeps them.

A piece is a list with its start and its end in the content, or a text that is not in the content.
"""

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from frepo_core.plugins import Part, StorageUnavailable

STEP = 256 << 10


def merged(ranges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return ranges in order, those that touch each other as one."""
    found: list[list[int]] = []
    for start, end in sorted(ranges):
        if found and found[-1][1] == start:
            found[-1][1] = end
        else:
            found.append([start, end])
    return found


def size_of(pieces: Iterable[Any]) -> int:
    """Return how many bytes pieces have."""
    return sum(len(one.encode()) if isinstance(one, str) else one[1] - one[0] for one in pieces)


def read_range(file: BinaryIO, start: int, end: int) -> Iterator[bytes]:
    """Yield the bytes of a content from `start` to `end`. Raises `StorageUnavailable` if it is shorter."""
    file.seek(start)
    left = end - start
    while left:
        data = file.read(min(left, STEP))
        if not data:
            raise StorageUnavailable(f"The content ends before byte {end}, where its list has a part")
        left -= len(data)
        yield data


def extract(file: BinaryIO, part: Part) -> Iterator[bytes]:
    """Yield the pieces of a part."""
    for piece in part.place:
        if isinstance(piece, str):
            yield piece.encode()
        else:
            yield from read_range(file, *piece)
