"""Members of a zip archive."""

import calendar
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from frepo_core.plugins import NotListable, Part, StorageUnavailable

from .pieces import STEP, read_range

_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08PK\x03\x04")
_HEADER = struct.Struct("<4s5H3I2H")
_ENCRYPTED = 1
# Deflate makes at most 1,032 bytes of one; small members may do whatever they like.
MAX_RATIO, FREE = 1100, 64 << 20
_LINK, _TYPES = 0o120000, 0o170000


def recognizes(head: bytes) -> bool:
    """Whether these first bytes are of the format."""
    return head.startswith(_STARTS)


def list_parts(file: BinaryIO) -> Iterator[Part]:
    """Yield the members by the directory at the end. Raises `NotListable` if they overlap."""
    try:
        with zipfile.ZipFile(file) as archive:
            members, end = archive.infolist(), archive.start_dir
    except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError) as error:
        raise NotListable(f"The zip archive is damaged: {error}") from error
    order = sorted(members, key=lambda one: one.header_offset)
    limits = {}
    for one, following in zip(order, [*(each.header_offset for each in order[1:]), end], strict=True):
        if one.header_offset + _HEADER.size + one.compress_size > following:
            raise NotListable("Members of the zip archive overlap each other, as only those of a bomb do")
        limits[one.header_offset] = following
    for one in members:
        yield _part(one, limits[one.header_offset])


def _part(member: zipfile.ZipInfo, limit: int) -> Part:
    mode = member.external_attr >> 16
    is_link = mode & _TYPES == _LINK
    kind = "folder" if member.is_dir() else "link" if is_link else "file"
    return Part(
        name=member.filename,
        kind=kind,
        size=0 if member.is_dir() else member.file_size,
        mode=mode & 0o7777 or None,
        modified=calendar.timegm((*member.date_time, 0, 1, 0)) if member.date_time[1] else None,
        refusal=_refusal(member, kind),
        place=[member.header_offset, member.compress_size, member.compress_type, member.CRC, limit],
    )


def _refusal(member: zipfile.ZipInfo, kind: str) -> str:
    if kind != "file":
        return f"It is a {kind}, and has no content of its own"
    if member.flag_bits & _ENCRYPTED:
        return "It is encrypted"
    if member.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        return f"It is compressed by a method that is not read here ({member.compress_type})"
    if member.file_size > FREE and member.file_size > MAX_RATIO * member.compress_size:
        return "It unpacks to more than its size allows"
    return ""


def extract(file: BinaryIO, part: Part) -> Iterator[bytes]:
    """Yield the content of a member, at most as much as its size says. Raises `StorageUnavailable` if it is damaged."""
    offset, packed, method, crc, limit = part.place
    header = b"".join(read_range(file, offset, offset + _HEADER.size))
    magic, *_, name_size, extra_size = _HEADER.unpack(header)
    start = offset + _HEADER.size + name_size + extra_size
    if magic != _STARTS[0] or start + packed > limit:
        raise StorageUnavailable("The zip archive is damaged: a member is not where its directory says")
    inflate = zlib.decompressobj(-zlib.MAX_WBITS) if method == zipfile.ZIP_DEFLATED else None
    left, found = part.size, 0
    for data in read_range(file, start, start + packed):
        for piece in _unpacked(inflate, data):
            if len(piece) > left:
                raise StorageUnavailable("The zip archive is damaged: a member is larger than its directory says")
            left, found = left - len(piece), zlib.crc32(piece, found)
            yield piece
    if left or found != crc:
        raise StorageUnavailable("The zip archive is damaged: the checksum of a member is wrong")


def _unpacked(inflate: "zlib._Decompress | None", data: bytes) -> Iterator[bytes]:
    if inflate is None:
        yield data
        return
    try:
        is_full = True
        while data or is_full:
            piece = inflate.decompress(data, STEP)
            data, is_full = inflate.unconsumed_tail, len(piece) == STEP
            yield piece
    except zlib.error as error:
        raise StorageUnavailable(f"The zip archive is damaged: {error}") from error
