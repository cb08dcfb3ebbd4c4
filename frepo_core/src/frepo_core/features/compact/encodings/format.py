"""The bytes of an encoded object, versions 1 and 2: magic, head, table, segments. See docs/compact-format.md."""

import json
import re
import struct
import zlib
from dataclasses import dataclass
from typing import Any, BinaryIO

import xxhash

from frepo_core.domain.json_objects import parse_object
from frepo_core.errors import ConfigurationError, DamagedObjectError

# In the second one, a segment may have several windows.
FORMAT, WINDOWS_FORMAT = 1, 2
MAGIC = b"\x89frepo\r\n"
ZSTD, DELTA = "zstd", "delta"
# What is written. Readers take the size from the head.
SMALL_SEGMENT, LARGE_SEGMENT = 1 << 20, 4 << 20
HEAD_SIZE = 512

_LENGTH = struct.Struct("<I")
_CHECK = struct.Struct("<I")
_FIELDS = struct.Struct("<QIQIQQ")
_INDEX = struct.Struct("<Q")
ENTRY_SIZE = _FIELDS.size + _CHECK.size
# Windows after the first one.
_WINDOW = struct.Struct("<QI")
MOST_WINDOWS = 8
_MORE_SIZE = (MOST_WINDOWS - 1) * _WINDOW.size
# Limits of this version for the decoder's memory; nothing larger is written.
_MOST_HEAD = 64 << 10
_MOST_SEGMENT = 16 << 20
_MOST_SEGMENT_AND_WINDOW = 1 << 26
_MOST_SIZE = 1 << 63
_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class Head:
    """What an object is: the SHA-256 (hex) and size of its content, its codec, and the SHA-256 of its base or None.

    `stored` is the size of the whole object. All sizes are in bytes.
    """

    digest: str
    size: int
    stored: int
    base: str | None = None
    segment: int = LARGE_SEGMENT
    table: int = HEAD_SIZE
    format: int = FORMAT

    @property
    def entry_size(self) -> int:
        """Return the size of an entry of the table."""
        return ENTRY_SIZE + (_MORE_SIZE if self.format == WINDOWS_FORMAT else 0)

    @property
    def codec(self) -> str:
        """Return `zstd` or `delta`."""
        return DELTA if self.base else ZSTD

    @property
    def count(self) -> int:
        """Return the number of segments."""
        return -(-self.size // self.segment)

    @property
    def data(self) -> int:
        """Return where the first segment begins."""
        return self.table + self.count * self.entry_size

    def segment_length(self, index: int) -> int:
        """Return the size of the content of a segment, in bytes."""
        return min(self.segment, self.size - index * self.segment)

    def pack(self) -> bytes:
        """Return magic and head, in exactly `HEAD_SIZE` bytes."""
        fields = {
            "format": self.format,
            "sha256": self.digest,
            "size": self.size,
            "codec": self.codec,
            "segment": self.segment,
            "stored": self.stored,
        } | ({"base": self.base} if self.base else {})
        room = HEAD_SIZE - len(MAGIC) - _LENGTH.size - _CHECK.size
        text = json.dumps(fields).encode().ljust(room)
        start = MAGIC + _LENGTH.pack(len(text)) + text
        return start + _CHECK.pack(zlib.crc32(start))


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One segment: where its bytes are in the object, which windows of the base it needs, and the XXH3-64 of both.

    `more` are the offsets and lengths of the windows after the first one, in format 2.
    """

    offset: int
    length: int
    window_offset: int
    window_length: int
    checksum: int
    window_checksum: int
    more: tuple[tuple[int, int], ...] = ()

    @property
    def windows(self) -> tuple[tuple[int, int], ...]:
        """Return the offsets and lengths of the windows, which are read one after the other."""
        return ((self.window_offset, self.window_length), *self.more) if self.window_length else ()

    def pack(self, digest: str, index: int, *, format: int = FORMAT) -> bytes:
        """Return the entry as the `index`-th of the content with this digest, in this format."""
        fields = _FIELDS.pack(
            self.offset, self.length, self.window_offset, self.window_length, self.checksum, self.window_checksum
        )
        if format == WINDOWS_FORMAT:
            fields += b"".join(_WINDOW.pack(*window) for window in self.more).ljust(_MORE_SIZE, b"\0")
        return fields + _CHECK.pack(_entry_check(digest, index, fields))


def checksum(data: bytes | bytearray) -> int:
    """Return the checksum of a segment's bytes or of its window."""
    return xxhash.xxh3_64_intdigest(data)


def read_head(stored: BinaryIO, digest: str) -> Head:
    """Read the head of the object that should have the content `digest`, from the start of `stored`.

    Raises `DamagedObjectError`, and `ConfigurationError` if a newer version of frepo wrote the object.
    """
    stored.seek(0)
    start = read_fully(stored, len(MAGIC) + _LENGTH.size)
    if not start.startswith(MAGIC) or len(start) < len(MAGIC) + _LENGTH.size:
        raise DamagedObjectError(digest, "it does not begin like an encoded object")
    (length,) = _LENGTH.unpack(start[len(MAGIC) :])
    rest = read_fully(stored, length + _CHECK.size) if length <= _MOST_HEAD else b""
    text = rest[:length]
    if len(rest) != length + _CHECK.size or _CHECK.unpack(rest[length:]) != (zlib.crc32(start + text),):
        raise DamagedObjectError(digest, "its head is wrong")
    try:
        fields = parse_object(text)
    except ValueError as error:
        raise DamagedObjectError(digest, f"its head is wrong: {error}") from None
    head = _parse(fields, digest, table=len(start) + len(rest))
    if head.digest != digest:
        raise DamagedObjectError(digest, f"it is the object of the content {head.digest}")
    return head


def _parse(fields: Any, digest: str, *, table: int) -> Head:
    segment, codec = fields.get("segment"), fields.get("codec")
    is_larger = _is_size(segment) and segment > _MOST_SEGMENT
    if fields.get("format") not in (FORMAT, WINDOWS_FORMAT) or codec not in (ZSTD, DELTA) or is_larger:
        found = f"{fields.get('format')!r}"[:32], f"{codec!r}"[:32]
        raise ConfigurationError(
            f"The content {digest} is stored in the format {found[0]} with the codec {found[1]}, which this version of "
            "frepo does not know. Install the version that stored it"
        )
    sha256, size, stored = fields.get("sha256"), fields.get("size"), fields.get("stored")
    base = fields.get("base") if codec == DELTA else None
    is_possible = all(map(_is_size, (size, stored, segment))) and segment and _is_sha256(sha256)
    if not is_possible or (codec == DELTA and (not _is_sha256(base) or base == sha256)):
        raise DamagedObjectError(digest, "its head has impossible values")
    head = Head(
        digest=sha256, size=size, stored=stored, base=base, segment=segment, table=table, format=fields["format"]
    )
    if head.data > stored:
        raise DamagedObjectError(digest, f"it has {stored} bytes, fewer than its table")
    return head


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < _MOST_SIZE


def _is_sha256(value: Any) -> bool:
    return isinstance(value, str) and _SHA256.fullmatch(value) is not None


def unpack_entry(data: bytes, head: Head, index: int) -> Entry:
    """Return the entry of a segment.

    Raises `DamagedObjectError` if it is wrong, of another place or content, or names more than the decoder may hold.
    """
    fields, check = data[: -_CHECK.size], data[-_CHECK.size :]
    if len(data) != head.entry_size or _CHECK.unpack(check) != (_entry_check(head.digest, index, fields),):
        raise DamagedObjectError(head.digest, "its entry in the table is wrong", segment=index)
    offset, length, window_offset, window_length, frame_check, window_check = _FIELDS.unpack(fields[: _FIELDS.size])
    more = tuple(window for window in _WINDOW.iter_unpack(fields[_FIELDS.size :]) if window[1])
    longest_window = window_length + sum(size for _, size in more)
    longest = 2 * head.segment_length(index) + 1024  # a frame is hardly longer than its content
    widest = _MOST_SEGMENT_AND_WINDOW - head.segment if head.base else 0
    farthest = max(window_offset, *(start for start, _ in more)) if more else window_offset
    is_outside = offset + length > head.stored or farthest >= _MOST_SIZE
    if is_outside or length > longest or longest_window > widest or (more and not window_length):
        raise DamagedObjectError(head.digest, "its entry in the table is larger than allowed", segment=index)
    return Entry(
        offset=offset,
        length=length,
        window_offset=window_offset,
        window_length=window_length,
        checksum=frame_check,
        window_checksum=window_check,
        more=more,
    )


def has_several_windows(stored: BinaryIO, digest: str) -> bool:
    """Return whether a segment of the object of a content has several windows. Raises as `read_head` does."""
    head = read_head(stored, digest)
    if head.format != WINDOWS_FORMAT:
        return False
    stored.seek(head.table)
    entries = (read_fully(stored, head.entry_size) for _ in range(head.count))
    return any(unpack_entry(entry, head, index).more for index, entry in enumerate(entries))


def read_fully(file: BinaryIO, size: int) -> bytes:
    """Read `size` bytes, or fewer only at the end of the file."""
    data = file.read(size)
    if len(data) == size or not data:
        return data
    pieces, missing = [data], size - len(data)
    while missing and (piece := file.read(missing)):
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)


def _entry_check(digest: str, index: int, fields: bytes) -> int:
    return zlib.crc32(bytes.fromhex(digest) + _INDEX.pack(index) + fields)
