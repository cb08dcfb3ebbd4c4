"""Encodes a content: in segments that are compressed alone, or against windows of a base."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import BinaryIO

from frepo_core.domain.structs import struct
from frepo_core.errors import DamagedObjectError

from ..encodings import libraries
from ..encodings.format import (
    FORMAT,
    LARGE_SEGMENT,
    SMALL_SEGMENT,
    WINDOWS_FORMAT,
    Entry,
    Head,
    checksum,
    read_fully,
)
from ..encodings.frames import LEVEL, compress, decompress, make_prefix
from ..encodings.windows import Windows
from .alignment import Alignment, choose_segment_size
from .base_index import BaseIndex


@struct
class Base:
    """The content that another one is encoded against: a seekable reader, the SHA-256 (hex), the size in bytes.

    With the `index` of an earlier reading, it is not read from start to end again.
    """

    content: BinaryIO
    digest: str
    size: int
    index: BaseIndex | None = None


def encode(
    content: BinaryIO,
    target: BinaryIO,
    *,
    digest: str,
    size: int,
    base: Base | None = None,
    segment_size: int | None = None,
    level: int = LEVEL,
    has_windows: bool = False,
    keep_going: Callable[[], None] = lambda: None,
) -> Head:
    """Write the object of a content to an empty seekable file, and return its head.

    The content is read once, from start to end, after a few places of it; the base is read twice. Both must have the
    given digests and sizes. Each segment is decoded again and compared. `segment_size` is chosen if it is not given.
    `level` is that of zstd. With `has_windows`, segments may have several windows, and the object has format 2: the
    base should be stored whole, because it is read to and fro.
    `keep_going` is called before each segment, of small ones before each fourth; what it raises is raised, and leaves
    an object without a head.
    Raises `ValueError` for a content that is its own base, `DamagedObjectError` if the content is wrong,
    `DamagedBaseError` if the base is, and `ConfigurationError` if the extra `compact` is missing. Needs about 60 MiB,
    100 MiB with several windows, whatever the sizes are.
    """
    libraries.require_libraries()
    if base and base.digest == digest:
        raise ValueError(f"the content {digest} cannot be its own base")
    index = _read_index(base, digest, segment_size, keep_going) if base else None
    if segment_size is None:
        anchors = index.anchors if index else None
        segment_size = choose_segment_size(content, size, base.size if base else 0, anchors)
    places = _Places(base, index, digest, segment_size) if base and index else None
    form = WINDOWS_FORMAT if base and has_windows else FORMAT
    base_digest = base.digest if base else None
    plan = Head(digest=digest, size=size, stored=0, base=base_digest, segment=segment_size, format=form)
    sha256, position = hashlib.sha256(), plan.data
    calls_each = LARGE_SEGMENT // SMALL_SEGMENT if segment_size == SMALL_SEGMENT else 1
    for number in range(plan.count):
        if number % calls_each == 0:
            keep_going()
        segment = read_fully(content, plan.segment_length(number))
        sha256.update(segment)
        windows = places.find(segment, number * segment_size, has_windows) if places else []
        window = places.read(windows) if places and windows else b""
        frame = _compress(segment, window, level, digest, number)
        target.seek(plan.table + number * plan.entry_size)
        target.write(_entry(position, frame, windows, window).pack(digest, number, format=form))
        target.seek(position)
        target.write(frame)
        position += len(frame)
    if sha256.hexdigest() != digest or content.read(1):
        raise DamagedObjectError(digest, "the bytes that were read to encode it are not its own")
    head = replace(plan, stored=position)
    target.seek(0)
    target.write(head.pack())
    return head


def _read_index(base: Base, digest: str, segment_size: int | None, keep_going: Callable[[], None]) -> BaseIndex:
    return base.index or BaseIndex.read(
        base.content,
        digest=base.digest,
        size=base.size,
        dependent=digest,
        keep_going=keep_going,
        block=(segment_size or LARGE_SEGMENT) // 4,
    )


class _Places:
    """Reads the window of each segment, from a base that was read once before."""

    def __init__(self, base: Base, index: BaseIndex, digest: str, segment_size: int) -> None:
        self._alignment = Alignment(index.anchors, size=base.size, margin=segment_size // 4)
        self._windows = Windows(index.checked(base.content, digest))

    def find(self, segment: bytes, position: int, has_windows: bool) -> list[tuple[int, int]]:
        """Return the offsets and lengths of the windows of a segment: none, one, or several with `has_windows`."""
        start, length = self._alignment.find_window(segment, position)
        if has_windows and (several := self._alignment.find_windows(segment, start, length)):
            return several
        return [(start, length)] if length else []

    def read(self, windows: list[tuple[int, int]]) -> bytearray:
        """Return the bytes of windows, one after the other. They are cut at the end of the base already."""
        return self._windows.read_all(windows)


def _compress(segment: bytes, window: bytes | bytearray, level: int, digest: str, index: int) -> bytes:
    """Return the frame of a segment, which was decoded again and compared."""
    prefix = make_prefix(window)
    frame = compress(segment, prefix, level)
    if decompress(frame, len(segment), prefix) != segment:
        raise DamagedObjectError(digest, "it is decoded to other bytes", segment=index)
    return frame


def _entry(position: int, frame: bytes, windows: Sequence[tuple[int, int]], window: bytes | bytearray) -> Entry:
    first, *more = windows or [(0, 0)]
    return Entry(
        offset=position,
        length=len(frame),
        window_offset=first[0],
        window_length=first[1],
        checksum=checksum(frame),
        window_checksum=checksum(window),
        more=tuple(more),
    )
