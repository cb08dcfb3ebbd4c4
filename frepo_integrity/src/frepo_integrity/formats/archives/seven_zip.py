"""Checks a 7z archive: its two headers and their CRC-32, of which the second is at its end (7zFormat.txt of 7-Zip).

The contents of members are not unpacked: Python knows too few of the methods.
"""

import struct
import zlib

from ...budget import Budget
from ...byte_stream import ByteStream
from ...outcomes import EmptyContent
from ..format import Format, Reader

START = b"7z\xbc\xaf\x27\x1c"
# Signature, version, CRC-32 of the rest; where the second header is, its size and its CRC-32.
_HEADER = struct.Struct("<6s2sIQQI")
_CHECKED_FROM = 12
# What LZMA2 makes of nothing: the byte that ends its stream.
_NO_DATA = b"\0"


def check(source: ByteStream, budget: Budget) -> str:
    """Check both headers, and that everything between them is there."""
    reader = Reader(source, budget, "sevenzip", "the 7z archive")
    header = reader.take(_HEADER.size, "its header")
    _, _, crc, offset, size, second_crc = _HEADER.unpack(header)
    if zlib.crc32(header[_CHECKED_FROM:]) != crc:
        raise reader.broken("the checksum of its header is wrong")
    if not size:
        raise reader.broken("there is nothing in it")
    found = 0

    def use(data: bytes) -> None:
        nonlocal found
        found = zlib.crc32(data, found)

    if offset == len(_NO_DATA) and source.peek(len(_NO_DATA)) == _NO_DATA:
        raise EmptyContent("sevenzip", "The 7z archive is whole, but there is nothing in its member")
    reader.skip(offset, "its members")
    reader.skip(size, "the list of its members", use)
    if found != second_crc:
        raise reader.broken("the checksum of the list of its members is wrong")
    reader.check_padding()
    return "The 7z archive has all its bytes and its list of members"


FORMAT = Format(
    kind="sevenzip",
    label="7z",
    suffixes=(".7z",),
    recognizes=lambda head: head.startswith(START),
    check=check,
    covers="container",
)
