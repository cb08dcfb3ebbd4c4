"""Reads the index at the end of each xz stream: it says where all blocks are, so a cut is seen without decompressing.

The format is described in https://tukaani.org/xz/xz-file-format.txt.
"""

import zlib
from typing import BinaryIO

from ..budget import Budget
from ..byte_stream import read_at
from ..outcomes import BrokenContent, NotCheckable

HEADER = 12  # bytes of a stream's header, and of its footer
MAX_PADDING = 64 << 20
MAX_INDEX = 4 << 20  # some 500,000 blocks
_PIECE = 64 << 10
_RECORDS = 4096  # that are read between two looks at the budget
_MAX_VARINT = 9


def check_index(file: BinaryIO, size: int, budget: Budget) -> None:
    """Check the footer and the index of every stream, from the last one to the first.

    Raises `BrokenContent` if they are missing, damaged, or do not add up to the size of the content.
    """
    end = size
    while end:
        budget.spend()
        end = _without_padding(file, end, budget)
        end -= _check_stream(file, end, budget)


def _without_padding(file: BinaryIO, end: int, budget: Budget) -> int:
    """Return the end of the last stream: zeros in multiples of four may follow it."""
    start = end
    while piece := read_at(file, max(0, end - _PIECE), min(_PIECE, end)):
        budget.spend()
        zeros = len(piece) - len(piece.rstrip(b"\0"))
        end -= zeros // 4 * 4
        if zeros < _PIECE:
            break
        if start - end > MAX_PADDING:
            raise NotCheckable("more than 64 MiB of padding follow an xz stream")
    return end


def _check_stream(file: BinaryIO, end: int, budget: Budget) -> int:
    """Return the size of the stream that ends here."""
    if end < 2 * HEADER:
        raise _broken("its last stream is shorter than a header and a footer")
    footer = read_at(file, end - HEADER, HEADER)
    if footer[10:] != b"YZ":
        raise _broken("it does not end with a footer, so its end is missing or other bytes follow it")
    if zlib.crc32(footer[4:10]) != int.from_bytes(footer[:4], "little"):
        raise _broken("the checksum of its footer is wrong")
    index_size = (int.from_bytes(footer[4:8], "little") + 1) * 4
    if index_size > end - 2 * HEADER:
        raise _broken("its footer gives an index that is larger than the content")
    if index_size > MAX_INDEX:
        raise NotCheckable(f"the index of an xz stream is larger than {MAX_INDEX} bytes")
    index = read_at(file, end - HEADER - index_size, index_size)
    size = _size_of_blocks(index, budget) + index_size + 2 * HEADER
    if size > end:
        raise _broken(f"its index describes {size} bytes, but there are only {end}")
    header = read_at(file, end - size, HEADER)
    if not header.startswith(b"\xfd7zXZ\x00") or header[6:8] != footer[8:10]:
        raise _broken("its header is not where its index says")
    return size


def _size_of_blocks(index: bytes, budget: Budget) -> int:
    if zlib.crc32(index[:-4]) != int.from_bytes(index[-4:], "little"):
        raise _broken("the checksum of its index is wrong")
    if index[0] != 0:
        raise _broken("its index is damaged")
    count, position = _varint(index, 1)
    total = 0
    for record in range(count):
        if record % _RECORDS == 0:
            budget.spend()
        unpadded, position = _varint(index, position)
        _, position = _varint(index, position)
        total += (unpadded + 3) // 4 * 4
    return total


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """Return a number and the position after it: seven bits in each byte, the lowest first."""
    number = 0
    for place in range(_MAX_VARINT):
        if position >= len(data):
            break
        number |= (data[position] & 0x7F) << (7 * place)
        position += 1
        if data[position - 1] < 0x80:
            return number, position
    raise _broken("its index is damaged")


def _broken(what: str) -> BrokenContent:
    return BrokenContent("xz", f"The xz data is not whole: {what}")
