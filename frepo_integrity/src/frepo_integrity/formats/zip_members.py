"""Unpacks every member of a zip archive and compares its CRC-32 and its size with the directory."""

import bz2
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

from ..budget import Budget
from ..byte_stream import CHUNK, ByteStream, read_at
from ..outcomes import BoundReached, BrokenContent, NotCheckable
from .codecs import MEMORY, ZSTD, Decompressor, raw_deflate
from .compressed import STEP
from .zip_directory import Directory, Entry, broken, entries

Look = Callable[[ByteStream, str], None]

_LOCAL = struct.Struct("<4s5H3L2H")
# Encrypted (bits 0, 6 and 13), or a patch (bit 5).
_UNREADABLE = 0x0001 | 0x0020 | 0x0040 | 0x2000
_MAX_VERSION = 63  # 6.3, the last one
_STORED = 0
# The methods that Python can decompress (APPNOTE.TXT, 4.4.5).
_METHODS: dict[int, Callable[[int], Decompressor]] = {
    8: lambda memory: raw_deflate(),
    12: lambda memory: bz2.BZ2Decompressor(),
    93: ZSTD.begin,
}
# Of zlib, bz2 and zstd.
_ERRORS: tuple[type[Exception], ...] = (zlib.error, OSError, ValueError, *ZSTD.errors)
_MAX_NAME = 100


def check_members(
    file: BinaryIO, directory: Directory, budget: Budget, memory: int = MEMORY, look: Look | None = None
) -> None:
    """Check every member. `memory` (bytes) is the limit for the window of a decompressor.

    `look` gets the content of each member and its name, and may read as much of it as it likes.

    Raises `BrokenContent`, `NotCheckable` if members are encrypted or of unknown methods, or `BoundReached` if they
    overlap: an archive with a million entries for the same bytes would be read a million times.
    """
    unchecked = checked = packed = 0
    for entry in entries(file, directory, budget):
        if pieces := _open_member(file, entry, budget, memory):
            failures: list[BrokenContent] = []
            content = ByteStream(_noted(_verified(pieces, entry), failures))
            if look:
                look(content, entry.name.decode("utf-8", "replace"))
            content.drain()
            for failure in failures:  # `look` may not have passed it on
                raise failure
            checked += 1
        else:
            unchecked += 1
        packed += _LOCAL.size + len(entry.name) + entry.packed
        if packed > directory.offset:
            raise BoundReached("the members of the zip archive overlap")
    if unchecked:
        raise NotCheckable(
            f"{unchecked} of {checked + unchecked} members of the zip archive are encrypted or compressed by a method "
            "that is not known here; the directory and the others are whole"
        )


def _open_member(file: BinaryIO, entry: Entry, budget: Budget, memory: int) -> Iterator[bytes] | None:
    """Return the content in pieces; None if the member cannot be checked."""
    header = read_at(file, entry.offset, _LOCAL.size)
    if len(header) < _LOCAL.size or not header.startswith(b"PK\x03\x04"):
        raise broken(f"{_name(entry)} is not where the directory says")
    _, _, flags, method, _, _, _, _, _, name_size, extra_size = _LOCAL.unpack(header)
    if (flags | entry.flags) & _UNREADABLE or entry.version > _MAX_VERSION:
        return None
    if method != entry.method or read_at(file, entry.offset + _LOCAL.size, name_size) != entry.name:
        raise broken(f"the header of {_name(entry)} differs from the directory")
    if method != _STORED and method not in _METHODS:
        return None
    file.seek(entry.offset + _LOCAL.size + name_size + extra_size)
    return _unpack(file, entry, budget, memory)


def _noted(pieces: Iterator[bytes], failures: list[BrokenContent]) -> Iterator[bytes]:
    try:
        yield from pieces
    except BrokenContent as broken:
        failures.append(broken)
        raise


def _verified(pieces: Iterator[bytes], entry: Entry) -> Iterator[bytes]:
    """Yield the pieces, and check at the end that they are what the directory says."""
    crc = size = 0
    for piece in pieces:
        crc = zlib.crc32(piece, crc)
        size += len(piece)
        if size > entry.unpacked:
            break
        if piece:  # a decompressor may have nothing yet, and a stream ends with an empty one
            yield piece
    if size != entry.unpacked:
        raise broken(f"{_name(entry)} does not have the {entry.unpacked} bytes that the directory says")
    if crc != entry.crc:
        raise broken(f"the checksum of {_name(entry)} is wrong")


def _unpack(file: BinaryIO, entry: Entry, budget: Budget, memory: int) -> Iterator[bytes]:
    packed = _packed(file, entry.packed)
    if entry.method == _STORED:
        for piece in packed:
            budget.spend(len(piece))
            yield piece
        return
    decompressor = _METHODS[entry.method](memory)
    while not decompressor.eof:
        data = next(packed, b"") if decompressor.needs_input else b""
        if decompressor.needs_input and not data:
            raise broken(f"{_name(entry)} ends too early")
        try:
            piece = decompressor.decompress(data, STEP)
        except _ERRORS as error:
            if ZSTD.needs_memory(str(error)):
                message = f"{_name(entry)} cannot be decompressed here: {error}"
                raise NotCheckable(message, needs_memory=True) from error
            raise broken(f"{_name(entry)} is damaged: {error}") from error
        budget.spend(len(piece))
        yield piece


def _packed(file: BinaryIO, size: int) -> Iterator[bytes]:
    while size and (piece := file.read(min(CHUNK, size))):
        size -= len(piece)
        yield piece


def _name(entry: Entry) -> str:
    return f"the member {entry.name[:_MAX_NAME].decode('utf-8', 'replace')!r}"
