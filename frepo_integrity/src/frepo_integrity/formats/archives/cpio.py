"""Checks a cpio archive: its headers, and the entry `TRAILER!!!` at its end (cpio(5): bin, odc, newc and crc)."""

import stat
import struct
from dataclasses import dataclass

from ...budget import Budget
from ...byte_stream import ByteStream
from ...outcomes import NotCheckable
from ..format import Format, Reader

_ODC, _NEWC, _CRC = b"070707", b"070701", b"070702"
# The old binary format, which `cpio -o` writes by itself: shorts in the order of the machine that wrote it.
_BIN = {b"\xc7\x71": struct.Struct("<12H"), b"\x71\xc7": struct.Struct(">12H")}
_BIN_SIZE, _BIN_MAGIC = 26, 2
_MAGIC = 6
_LAST = b"TRAILER!!!\0"
_MAX_NAME = 4096
_HEAD = 512


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """The sizes of a header: of the name with its zero byte, of the content, and of the padding after each.

    `sum` is that of the content's bytes; None if the header has none.
    """

    name_size: int
    size: int
    alignment: int
    sum: int | None = None


def check(source: ByteStream, budget: Budget) -> str:
    """Read all entries. Several archives may follow each other, as in the initial file system of Linux."""
    reader = Reader(source, budget, "cpio", "the cpio archive")
    entries, start = 0, 0
    while True:
        entry = _read_header(reader)
        if not 0 < entry.name_size <= _MAX_NAME:
            raise reader.broken(f"a name of {entry.name_size} bytes is before byte {reader.offset}")
        name = reader.take(entry.name_size, "a name")
        _skip_padding(reader, start, entry)
        _read_content(reader, entry)
        _skip_padding(reader, start, entry)
        if name == _LAST:
            if _is_over(source, budget):
                if not entries:
                    raise reader.broken("there is nothing in it")
                return f"The cpio archive is whole, it has {entries} entries"
            start = reader.offset
        else:
            entries += 1


def _read_header(reader: Reader) -> _Entry:
    magic = reader.take(_MAGIC, "a header")
    if magic[:_BIN_MAGIC] in _BIN:
        return _read_bin(magic + reader.take(_BIN_SIZE - _MAGIC, "a header"))
    if magic == _ODC:
        return _read_odc(reader, reader.take(70, "a header"))
    if magic in (_NEWC, _CRC):
        return _read_newc(reader, reader.take(104, "a header"), has_sum=magic == _CRC)
    raise reader.broken(f"no entry begins at byte {reader.offset - _MAGIC}")


def _read_newc(reader: Reader, header: bytes, *, has_sum: bool) -> _Entry:
    fields = [_number(reader, header[at : at + 8], 16) for at in range(0, len(header), 8)]
    # cpio(1): the checksum is that of regular files only.
    has_sum = has_sum and stat.S_ISREG(fields[1])
    return _Entry(name_size=fields[11], size=fields[6], sum=fields[12] if has_sum else None, alignment=4)


def _read_odc(reader: Reader, header: bytes) -> _Entry:
    return _Entry(name_size=_number(reader, header[53:59], 8), size=_number(reader, header[59:70], 8), alignment=1)


def _read_bin(header: bytes) -> _Entry:
    """Read a header of shorts; of the two that give the size, the first is the higher one."""
    fields = _BIN[header[:_BIN_MAGIC]].unpack(header[_BIN_MAGIC:])
    return _Entry(name_size=fields[9], size=fields[10] << 16 | fields[11], alignment=2)


def _begins(head: bytes) -> bool:
    """Whether an entry begins here. Two bytes are too few to tell, so the name of a binary header has to end, too."""
    if head[:_MAGIC] in (_NEWC, _CRC, _ODC):
        return head[_MAGIC : 2 * _MAGIC].isalnum()
    if head[:_BIN_MAGIC] not in _BIN or len(head) < _BIN_SIZE:
        return False
    size = _read_bin(head[:_BIN_SIZE]).name_size
    name = head[_BIN_SIZE : _BIN_SIZE + size]
    return 1 < size <= _MAX_NAME and b"\0" not in name[:-1] and (len(name) < size or name.endswith(b"\0"))


def _number(reader: Reader, text: bytes, base: int) -> int:
    try:
        return int(text, base)
    except ValueError:
        raise reader.broken(f"the header before byte {reader.offset} is damaged") from None


def _read_content(reader: Reader, entry: _Entry) -> None:
    found = 0

    def use(data: bytes) -> None:
        nonlocal found
        found += sum(data)

    reader.skip(entry.size, "an entry", None if entry.sum is None else use)
    if entry.sum is not None and entry.size and found & 0xFFFFFFFF != entry.sum:
        raise reader.broken(f"the checksum of the entry before byte {reader.offset} is wrong")


def _skip_padding(reader: Reader, start: int, entry: _Entry) -> None:
    reader.skip(-(reader.offset - start) % entry.alignment, "the padding of an entry")


def _is_over(source: ByteStream, budget: Budget) -> bool:
    """Skip the zeros after an archive. Return False if another one follows."""
    while (data := source.peek(512)) and not data.strip(b"\0"):
        budget.spend()
        source.skip(len(data))
    zeros = len(data) - len(data.lstrip(b"\0"))
    source.skip(zeros)
    if _begins(source.peek(_HEAD)):
        return False
    if data:
        raise NotCheckable("something else follows the cpio archive, which is whole")
    return True


FORMAT = Format(
    kind="cpio",
    label="cpio",
    suffixes=(".cpio",),
    recognizes=_begins,
    check=check,
    covers="container",
)
