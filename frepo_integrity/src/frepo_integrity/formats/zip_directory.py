"""Reads the directory of a zip archive, one entry at a time, and checks that it is whole.

The records are described in PKWARE's APPNOTE.TXT: 4.3.12 (an entry), 4.3.14 to 4.3.16 (the end), 4.5.3 (zip64).
"""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from ..budget import Budget
from ..byte_stream import ByteStream, read_at
from ..outcomes import BrokenContent, NotCheckable
from .format import read_all_but

END = struct.Struct("<4s4H2LH")
_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_END_START = re.compile(rb"PK\x05\x06")
_MAX_COMMENT = 0xFFFF
_FULL16, _FULL32 = 0xFFFF, 0xFFFFFFFF
# What the numbers of the record at the end are if the zip64 record has them.
_FULL = (_FULL16, _FULL16, _FULL16, _FULL16, _FULL32, _FULL32)
_ENTRY_START = b"PK\x01\x02"
_PIECE = 256 << 10
_MAX_ENDS = 16


@dataclass(frozen=True, kw_only=True)
class Directory:
    """Where the directory is: offset and size in bytes, the number of entries, and bytes before the archive."""

    offset: int
    size: int
    entries: int
    shift: int


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One entry. `offset` is that of its local header; sizes are in bytes. `version` (times ten) unpacks it."""

    name: bytes
    version: int
    flags: int
    method: int
    crc: int
    packed: int
    unpacked: int
    offset: int


def read_directory(file: BinaryIO, size: int) -> Directory:
    """Find the directory by the record at the end. Raises `BrokenContent`, or `NotCheckable` for one part of many."""
    start = max(0, size - END.size - _MAX_COMMENT)
    tail = read_at(file, start, size - start)
    position = _find_end(file, tail, start)
    _, *numbers, _ = END.unpack_from(tail, position)
    numbers, end = _apply_end64(file, numbers, start + position)
    disk, first_disk, _, entries, length, offset = numbers
    if disk or first_disk:
        raise NotCheckable("the zip archive is one part of several")
    shift = end - length - offset
    if shift < 0:
        raise broken(f"its directory is {-shift} bytes longer than the room for it, so bytes are missing")
    if shift and not _begins_at(file, offset + shift) and _begins_at(file, offset):
        shift = 0  # something that is not known here is between the directory and the record at the end
    return Directory(offset=offset + shift, size=length, entries=entries, shift=shift)


def _begins_at(file: BinaryIO, position: int) -> bool:
    """Whether an entry of the directory is at this position."""
    return read_at(file, position, len(_ENTRY_START)) == _ENTRY_START


def check_stream(source: ByteStream, budget: Budget) -> str:
    """Check the record at the end of an archive that can be read once only; return a sentence about a whole one."""
    tail = read_all_but(source, budget, END.size + _MAX_COMMENT, lambda data: None)
    without_padding = len(tail.rstrip(b"\0"))
    for match in _END_START.finditer(tail):
        end = match.start() + END.size
        if end > len(tail):
            break
        _, _, _, _, entries, length, offset, comment = END.unpack_from(tail, match.start())
        is_zip64 = _FULL16 == entries or _FULL32 in (length, offset)
        position = source.offset - len(tail) + match.start()
        if without_padding <= end + comment <= len(tail) and (is_zip64 or length + offset <= position):
            if not entries:
                raise broken("there is nothing in it")
            return f"The zip archive has the end of its directory, which has {entries} entries"
    raise broken("the record at its end is missing")


def _find_end(file: BinaryIO, tail: bytes, start: int) -> int:
    """Return the position in the tail of the record at the end, whose comment must reach to the end.

    A comment may look like such a record, so the one that has a directory before it is preferred.
    """
    found = [match.start() for match in _END_START.finditer(tail) if match.start() + END.size <= len(tail)]
    if not found:
        raise broken("the record at its end is missing")
    ends = {position: position + END.size + END.unpack_from(tail, position)[7] for position in found}
    # Tapes are padded with zeros.
    without_padding = len(tail.rstrip(b"\0"))
    whole = [position for position, end in ends.items() if without_padding <= end <= len(tail)]
    if not whole:
        excess = len(tail) - ends[found[-1]]
        raise broken("its comment is cut" if excess < 0 else f"{excess} bytes follow its end")
    # Each look at a directory may be a request to the storage.
    latest = reversed(whole[-_MAX_ENDS:])
    return next((one for one in latest if _has_directory(file, tail, one, start)), whole[-1])


def _has_directory(file: BinaryIO, tail: bytes, position: int, start: int) -> bool:
    _, disk, _, _, entries, length, _, _ = END.unpack_from(tail, position)
    if not length:
        return not disk and not entries
    is_zip64 = tail[max(0, position - _LOCATOR.size) : position].startswith(b"PK\x06\x07")
    directory = start + position - length
    return is_zip64 or (directory >= 0 and _begins_at(file, directory))


def _apply_end64(file: BinaryIO, numbers: list[int], end: int) -> tuple[list[int], int]:
    """Replace what is too large for the record at the end by what the zip64 record says; return where the first is.

    Some programs write a zip64 record in any case: Info-ZIP does if it reads a pipe, and then all numbers are right.
    """
    locator = read_at(file, max(0, end - _LOCATOR.size), _LOCATOR.size)
    if not locator.startswith(b"PK\x06\x07"):
        return numbers, end  # the numbers are just as large as that
    position = _LOCATOR.unpack(locator)[2]
    # Bytes before the archive shift the record, so it is looked for where it usually is, too.
    for place in (position, end - _LOCATOR.size - _END64.size):
        record = read_at(file, place, _END64.size) if 0 <= place <= end else b""
        if record.startswith(b"PK\x06\x06") and len(record) == _END64.size:
            wide = _END64.unpack(record)[4:]
            return [large if one == full else one for one, large, full in zip(numbers, wide, _FULL, strict=True)], place
    if any(one == full for one, full in zip(numbers, _FULL, strict=True)):
        raise broken("its zip64 record is not where its locator says")
    return numbers, end


def entries(file: BinaryIO, directory: Directory, budget: Budget) -> Iterator[Entry]:
    """Yield all entries. Raises `BrokenContent` if there are fewer or more than the record at the end says."""
    data, position, left = b"", 0, directory.size
    file_position = directory.offset
    found = 0
    while left or position < len(data):
        # An entry has at most 46 bytes and three fields of 64 KiB.
        if len(data) - position < _ENTRY.size + 3 * _FULL16 and left:
            piece = read_at(file, file_position, min(_PIECE, left))
            if not piece:
                raise broken("its directory is cut")
            data, position = data[position:] + piece, 0
            file_position += len(piece)
            left -= len(piece)
        entry, position = _entry(data, position, directory)
        budget.spend()
        yield entry
        found += 1
    if not found:
        raise broken("there is nothing in it")
    if found != directory.entries and found % (_FULL16 + 1) != directory.entries:
        raise broken(f"its directory has {found} entries, but should have {directory.entries}")


def _entry(data: bytes, position: int, directory: Directory) -> tuple[Entry, int]:
    if len(data) - position < _ENTRY.size or not data.startswith(_ENTRY_START, position):
        raise broken("its directory is damaged")
    fields = _ENTRY.unpack_from(data, position)
    _, _, version, flags, method, _, _, crc, packed, unpacked, name_size, extra_size, comment_size, _, _, _, offset = (
        fields
    )
    start = position + _ENTRY.size
    end = start + name_size + extra_size + comment_size
    if end > len(data):
        raise broken("its directory is cut within an entry")
    extra = data[start + name_size : start + name_size + extra_size]
    unpacked, packed, offset = _apply_zip64(extra, unpacked, packed, offset)
    entry = Entry(
        name=data[start : start + name_size],
        version=version & 0xFF,
        flags=flags,
        method=method,
        crc=crc,
        packed=packed,
        unpacked=unpacked,
        offset=offset + directory.shift,
    )
    if entry.offset + packed > directory.offset:
        raise broken("an entry is not where its directory says")
    return entry, end


def _apply_zip64(extra: bytes, *numbers: int) -> list[int]:
    """Replace each number that is 0xFFFFFFFF by the next one in the extra field of zip64."""
    position = 0
    while position + 4 <= len(extra):
        kind, size = struct.unpack_from("<2H", extra, position)
        if kind == 1:
            field = extra[position + 4 : position + 4 + size]
            wide = [int.from_bytes(field[start : start + 8], "little") for start in range(0, len(field) - 7, 8)]
            return [wide.pop(0) if number == _FULL32 and wide else number for number in numbers]
        position += 4 + size
    return list(numbers)


def broken(what: str) -> BrokenContent:
    """Return the exception for a zip archive of which this is wrong."""
    return BrokenContent("zip", f"The zip archive is not whole: {what}")
