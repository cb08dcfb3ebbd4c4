"""Checks a cpio archive: its headers, and the entry `TRAILER!!!` at its end (cpio(5): odc, newc and crc)."""

from collections.abc import Callable
from dataclasses import dataclass

from ...budget import Budget
from ...byte_stream import ByteStream
from ...outcomes import NotCheckable
from ..format import Format, Reader

_ODC, _NEWC, _CRC = b"070707", b"070701", b"070702"
_MAGIC = 6
_LAST = b"TRAILER!!!\0"
_MAX_NAME = 4096


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """The sizes of a header: of the name with its zero byte, of the content, and of the padding after each."""

    name_size: int
    size: int
    sum: int
    alignment: int


def check(source: ByteStream, budget: Budget) -> str:
    """Read all entries. Several archives may follow each other, as in the initial file system of Linux."""
    reader = Reader(source, budget, "cpio", "the cpio archive")
    entries, start = 0, 0
    while True:
        magic = reader.take(_MAGIC, "a header")
        header_size, read = _HEADERS.get(magic, (0, _read_newc))
        if not header_size:
            raise reader.broken(f"no entry begins at byte {reader.offset - _MAGIC}")
        entry = read(reader, magic, reader.take(header_size - _MAGIC, "a header"))
        if not 0 < entry.name_size <= _MAX_NAME:
            raise reader.broken(f"a name of {entry.name_size} bytes is before byte {reader.offset}")
        name = reader.take(entry.name_size, "a name")
        _skip_padding(reader, start, entry)
        _read_content(reader, entry, has_sum=magic == _CRC)
        _skip_padding(reader, start, entry)
        if name == _LAST:
            if _is_over(source, budget):
                if not entries:
                    raise reader.broken("there is nothing in it")
                return f"The cpio archive is whole, it has {entries} entries"
            start = reader.offset
        else:
            entries += 1


def _read_newc(reader: Reader, magic: bytes, header: bytes) -> _Entry:
    fields = [_number(reader, header[at : at + 8], 16) for at in range(0, len(header), 8)]
    return _Entry(name_size=fields[11], size=fields[6], sum=fields[12], alignment=4)


def _read_odc(reader: Reader, magic: bytes, header: bytes) -> _Entry:
    return _Entry(
        name_size=_number(reader, header[53:59], 8), size=_number(reader, header[59:70], 8), sum=0, alignment=1
    )


_HEADERS: dict[bytes, tuple[int, Callable[[Reader, bytes, bytes], _Entry]]] = {
    _NEWC: (110, _read_newc),
    _CRC: (110, _read_newc),
    _ODC: (76, _read_odc),
}


def _number(reader: Reader, text: bytes, base: int) -> int:
    try:
        return int(text, base)
    except ValueError:
        raise reader.broken(f"the header before byte {reader.offset} is damaged") from None


def _read_content(reader: Reader, entry: _Entry, *, has_sum: bool) -> None:
    found = 0

    def use(data: bytes) -> None:
        nonlocal found
        found += sum(data)

    reader.skip(entry.size, "an entry", use if has_sum else None)
    if has_sum and entry.size and found & 0xFFFFFFFF != entry.sum:
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
    if source.peek(_MAGIC) in _HEADERS:
        return False
    if data:
        raise NotCheckable("something else follows the cpio archive, which is whole")
    return True


FORMAT = Format(
    kind="cpio",
    label="cpio",
    suffixes=(".cpio",),
    recognizes=lambda head: head[:_MAGIC] in _HEADERS and head[_MAGIC : 2 * _MAGIC].isalnum(),
    check=check,
    covers="container",
)
