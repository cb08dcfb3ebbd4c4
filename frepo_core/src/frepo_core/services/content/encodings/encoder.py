"""Encodes a content: in segments that are compressed alone, or against windows of a base."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import BinaryIO

from frepo_core.errors import DamagedBaseError, DamagedObjectError

from . import libraries
from .anchors import Alignment, Anchors
from .format import ENTRY_SIZE, SEGMENT_SIZE, Entry, Head, checksum, read_fully

_LEVEL = 3


@dataclass(frozen=True, kw_only=True)
class Base:
    """The content that another one is encoded against: a seekable reader, the SHA-256 (hex), the size in bytes."""

    content: BinaryIO
    digest: str
    size: int


def encode(
    content: BinaryIO,
    target: BinaryIO,
    *,
    digest: str,
    size: int,
    base: Base | None = None,
    segment_size: int = SEGMENT_SIZE,
    keep_going: Callable[[], None] = lambda: None,
) -> Head:
    """Write the object of a content to an empty seekable file, and return its head.

    The content is read once, from start to end, and the base twice; both must have the given digests and sizes.
    `keep_going` is called before each segment; what it raises is raised, and leaves an object without a head.
    Raises `ValueError` for a content that is its own base, `DamagedObjectError` if the content is wrong,
    `DamagedBaseError` if the base is, and `ConfigurationError` if the extra `compact` is missing. Needs about 60 MiB,
    whatever the sizes are.
    """
    libraries.require_libraries()
    if base and base.digest == digest:
        raise ValueError(f"the content {digest} cannot be its own base")
    alignment = _align(base, digest, segment_size, keep_going) if base else None
    plan = Head(digest=digest, size=size, stored=0, base=base.digest if base else None, segment=segment_size)
    sha256, position = hashlib.sha256(), plan.data
    for index in range(plan.count):
        keep_going()
        segment = read_fully(content, min(segment_size, size - index * segment_size))
        sha256.update(segment)
        start, window = alignment.read_window(segment, index * segment_size) if alignment else (0, b"")
        frame = _compress(segment, window)
        target.seek(plan.table + index * ENTRY_SIZE)
        target.write(_entry(position, frame, start, window).pack(digest, index))
        target.seek(position)
        target.write(frame)
        position += len(frame)
    if sha256.hexdigest() != digest or content.read(1):
        raise DamagedObjectError(digest, "the bytes that were read to encode it are not its own")
    head = replace(plan, stored=position)
    target.seek(0)
    target.write(head.pack())
    return head


def _entry(position: int, frame: bytes, start: int, window: bytes | bytearray) -> Entry:
    return Entry(
        offset=position,
        length=len(frame),
        window_offset=start,
        window_length=len(window),
        checksum=checksum(frame),
        window_checksum=checksum(window),
    )


def _align(base: Base, digest: str, segment_size: int, keep_going: Callable[[], None]) -> Alignment:
    """Read the whole base for its anchors, and compare its SHA-256."""
    anchors, sha256, position = Anchors(), hashlib.sha256(), 0
    base.content.seek(0)
    for block in iter(partial(read_fully, base.content, segment_size), b""):
        keep_going()
        sha256.update(block)
        anchors.add(block, position)
        position += len(block)
    if sha256.hexdigest() != base.digest or position != base.size:
        raise DamagedBaseError(digest, base.digest, "the base's bytes are not its own")
    anchors.sort()
    return Alignment(anchors, base.content, size=base.size, margin=segment_size // 4)


def _compress(segment: bytes, window: bytes | bytearray) -> bytes:
    """Return one frame with its size and a checksum. The window is a prefix: it needs long-distance matching."""
    parameter = libraries.zstd.CompressionParameter
    options: dict[int, int] = {parameter.compression_level: _LEVEL, parameter.checksum_flag: 1}
    prefix = None
    if window:
        prefix = libraries.zstd.ZstdDict(window, is_raw=True).as_prefix
        options[parameter.enable_long_distance_matching] = 1
        lowest, highest = parameter.window_log.bounds()
        options[parameter.window_log] = min(max((len(window) + len(segment)).bit_length(), lowest), highest)
    compressor = libraries.zstd.ZstdCompressor(options=options, zstd_dict=prefix)
    compressor.set_pledged_input_size(len(segment))
    return compressor.compress(segment, mode=libraries.zstd.ZstdCompressor.FLUSH_FRAME)
