"""Tables of what `pg_dump -Fc` writes: its table of contents has the statements, its blocks the packed rows.

The format is that of `pg_backup_archiver.c` and `pg_backup_custom.c` of PostgreSQL, versions 1.12 (9.0) to 1.16 (17).
"""

import io
import re
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol

import lz4.frame

from frepo_core.plugins import NotListable, Part, StorageUnavailable

from .pg_tables import PgTables, frame
from .pieces import STEP, read_range
from .sql_dialects import POSTGRESQL, RowCheck
from .sql_statements import Scanner, Statement

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_START, _CUSTOM = b"PGDMP", 1
_OLDEST, _NEWEST = (1, 12), (1, 16)
_DATA, _BLOBS = 1, 3
_NO_DATA = 3
_MAX_TEXT, _MAX_CHUNK = 64 << 20, 64 << 20
_MAX_RATIO, _FREE = 1100, 64 << 20
_PACKED = {0: "none", 1: "gzip", 2: "lz4", 3: "zstd"}
# What pg_restore sets before everything else. The dump itself has the encoding.
_SETTINGS = (
    "SET statement_timeout = 0;\nSET lock_timeout = 0;\nSET check_function_bodies = false;\nSET xmloption = content;\n"
    "SET client_min_messages = warning;\nSET row_security = off;\n"
)
_END = re.compile(rb"\n\\\.\r?\n")
_FRAME = {b"ENCODING", b"STDSTRINGS", b"SEARCHPATH"}


class _Unpacker(Protocol):
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """An entry of the table of contents: its statements and the start of its rows, as places in the dump."""

    number: int
    kind: bytes
    definition: tuple[int, int]
    copy: tuple[int, int]
    has_data: bool


class _Reader:
    """Reads numbers and texts at the position of a dump."""

    def __init__(self, file: BinaryIO, number_size: int = 4, offset_size: int = 8) -> None:
        self.file, self.number_size, self.offset_size = file, number_size, offset_size

    def take(self, size: int) -> bytes:
        data = self.file.read(size)
        if len(data) < size:
            raise NotListable("The dump of pg_dump was cut off")
        return data

    def number(self) -> int:
        data = self.take(1 + self.number_size)
        value = int.from_bytes(data[1:], "little")
        return -value if data[0] else value

    def text(self) -> tuple[int, int]:
        """Read over a text; return its place, with its end before its start if there is none."""
        size, start = self.number(), self.file.tell()
        if size > _MAX_TEXT:
            raise NotListable("The dump of pg_dump is damaged: a text is longer than 64 MiB")
        self.file.seek(start + max(size, 0))
        return start, start + size

    def read(self, place: tuple[int, int]) -> bytes:
        """Return the text at a place; the position stays."""
        here = self.file.tell()
        self.file.seek(place[0])
        data = self.take(max(0, place[1] - place[0]))
        self.file.seek(here)
        return data


class _Dump:
    """The head and the table of contents."""

    def __init__(self, file: BinaryIO) -> None:
        reader = self.reader = _Reader(file)
        reader.take(len(_START))
        version = tuple(reader.take(3)[:2])
        if not _OLDEST <= version <= _NEWEST:
            raise NotListable(f"Dumps of pg_dump of version {version[0]}.{version[1]} are not known")
        reader.number_size, reader.offset_size, _ = reader.take(3)
        if not (0 < reader.number_size <= 8 and 0 < reader.offset_size <= 8):
            raise NotListable("The dump of pg_dump is damaged: its numbers have no size")
        if version >= (1, 15):
            self.packed = _PACKED.get(reader.take(1)[0], "unknown")
        else:
            self.packed = "gzip" if reader.number() else "none"
        for _ in range(7):  # when it was made
            reader.number()
        for _ in range(3):  # the database, the server, the program
            reader.text()
        self.entries = [self._entry(version) for _ in range(reader.number())]

    def _entry(self, version: tuple[int, ...]) -> _Entry:
        reader = self.reader
        number, _ = reader.number(), reader.number()
        _, _, _, kind = (reader.text() for _ in range(4))  # the identifiers and the name come first
        reader.number()
        definition, _, copy = (reader.text() for _ in range(3))
        for _ in range(2 + (version >= (1, 14))):  # schema, tablespace, access method
            reader.text()
        if version >= (1, 16):
            reader.number()
        for _ in range(2):  # the owner, and whether it has object identifiers
            reader.text()
        while (place := reader.text())[1] >= place[0]:  # what it depends on
            pass
        state = reader.take(1 + reader.offset_size)[0]
        return _Entry(
            number=number, kind=reader.read(kind), definition=definition, copy=copy, has_data=state != _NO_DATA
        )

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Yield each block of rows behind the table of contents: the number of its entry, and where its chunks begin.

        The offsets in the table of contents are not needed, which a dump into a pipe does not have.
        """
        reader = self.reader
        while kind := reader.file.read(1):
            number, start = reader.number(), reader.file.tell()
            if kind[0] == _DATA:
                yield number, start
                reader.file.seek(start)
                for _ in _chunks(reader):
                    pass
            elif kind[0] == _BLOBS:
                while reader.number():
                    for _ in _chunks(reader):
                        pass
            else:
                raise NotListable(f"The dump of pg_dump is damaged: no block is at byte {start}")


def _chunks(reader: _Reader, *, reads: bool = False) -> Iterator[bytes]:
    while size := reader.number():
        if not 0 < size <= _MAX_CHUNK:
            raise NotListable("The dump of pg_dump is damaged: a chunk has no size")
        if reads:
            yield reader.take(size)
        else:
            reader.file.seek(size - 1, io.SEEK_CUR)
            reader.take(1)


def _unpacker(packed: str) -> _Unpacker | None:
    if packed == "gzip":
        return zlib.decompressobj()
    if packed == "lz4":
        decompressor: _Unpacker = lz4.frame.LZ4FrameDecompressor()
        return decompressor
    return zstd.ZstdDecompressor() if packed == "zstd" else None


def _rows(reader: _Reader, packed: str) -> Iterator[bytes]:
    """Yield the rows of the block at the position. Raises `NotListable` if it is damaged or a bomb."""
    unpacker, given, made = _unpacker(packed), 0, 0
    try:
        for chunk in _chunks(reader, reads=True):
            given += len(chunk)
            for piece in _pieces(unpacker, chunk):
                made += len(piece)
                if made > max(_FREE, _MAX_RATIO * given):
                    raise NotListable("The rows of a table unpack to more than 1,100 times their size")
                yield piece
    except (zlib.error, zstd.ZstdError, RuntimeError, EOFError) as error:
        raise NotListable(f"The dump of pg_dump is damaged: {error}") from error


def _pieces(unpacker: _Unpacker | None, data: bytes) -> Iterator[bytes]:
    if unpacker is None:
        yield data
        return
    is_full = True
    while (data or is_full) and not getattr(unpacker, "eof", False):
        piece = unpacker.decompress(data, STEP)
        data, is_full = getattr(unpacker, "unconsumed_tail", b""), len(piece) == STEP
        yield piece


def recognizes(head: bytes) -> bool:
    """Whether these first bytes are of the format."""
    return head.startswith(_START) and head[10:11] == bytes([_CUSTOM])


def list_parts(file: BinaryIO) -> Iterator[Part]:
    """Yield the tables. The rows are unpacked once, to count and to check them."""
    dump = _Dump(file)
    if dump.packed == "unknown":
        raise NotListable("The dump of pg_dump is compressed by a method that is not known")
    tables = PgTables()
    places: list[list[Any]] = []
    settings: list[list[int]] = []
    counted = dict(_count(dump))
    for entry in dump.entries:
        text = dump.reader.read(entry.definition)
        for statement in Scanner(io.BytesIO(text).read, POSTGRESQL).statements():
            start = entry.definition[0]
            if entry.kind in _FRAME:
                settings.append([start + statement.start, start + statement.end])
            tables.add(statement, len(places))
            places.append([[start + statement.start, start + statement.end], "\n"])
        if entry.has_data and entry.kind == b"TABLE DATA":
            if entry.number not in counted:
                raise NotListable("The dump of pg_dump was cut off: the rows of a table are missing")
            block, check, size = counted[entry.number]
            copy = dump.reader.read(entry.copy).strip()
            if not copy:
                raise NotListable("Its rows are statements (--inserts), which are not read in this format")
            statement = Statement(start=0, text=copy, rows=check.rows, has_command=check.is_odd)
            tables.add(statement, len(places))
            places.append([list(entry.copy), {"block": block, "packed": dump.packed, "size": size}])
    yield from _parts(tables, settings, places, (dump.reader.number_size, dump.reader.offset_size))


def _count(dump: _Dump) -> Iterator[tuple[int, tuple[int, RowCheck, int]]]:
    """Yield for each entry with rows where its block is, what was counted in it, and its unpacked size."""
    for number, block in dump.blocks():
        size, rows = 0, _CopiedRows()
        for piece in _rows(dump.reader, dump.packed):
            size += len(piece)
            rows.add(piece)
        yield number, (block, rows.check, size)


class _CopiedRows:
    """Checks the rows of a block as they are unpacked, to the line that ends them. Only line ends may follow."""

    def __init__(self) -> None:
        self.check = RowCheck()
        self._rest, self._is_ended = b"\n", False

    def add(self, piece: bytes) -> None:
        if not self._is_ended:
            self._rest += piece
            found = _END.search(self._rest)
            end = found.start() if found else self._rest.rfind(b"\n")
            self.check.add(self._rest[:end])
            self._is_ended, piece = found is not None, self._rest[found.end() :] if found else b""
            self._rest = self._rest[end:]
        self.check.is_odd |= bool(piece.strip(b"\n"))


def _parts(
    tables: PgTables, settings: list[list[int]], places: list[list[Any]], sizes: tuple[int, int]
) -> Iterator[Part]:
    before: list[Any] = [_SETTINGS, *(piece for one in settings for piece in (one, "\n"))]
    frame(tables)
    for table in tables.found():
        pieces = [*before, *(piece for number in table.numbers for piece in places[number])]
        yield Part(
            name=table.name,
            kind="table",
            size=sum(_size(piece) for piece in pieces),
            rows=table.rows,
            refusal=table.refusal,
            place={"pieces": pieces, "sizes": sizes},
        )


def _size(piece: Any) -> int:
    if isinstance(piece, dict):
        return int(piece["size"])
    return len(piece) if isinstance(piece, str) else piece[1] - piece[0]


def extract(file: BinaryIO, part: Part) -> Iterator[bytes]:
    """Yield the statements of a table and its rows."""
    for piece in part.place["pieces"]:
        if isinstance(piece, str):
            yield piece.encode()
        elif isinstance(piece, dict):
            file.seek(piece["block"])
            left = piece["size"]
            try:
                for data in _rows(_Reader(file, *part.place["sizes"]), piece["packed"]):
                    left -= len(data)
                    if left < 0:
                        raise StorageUnavailable("The rows of a table are more than its list says")
                    yield data
            except NotListable as error:
                raise StorageUnavailable(str(error)) from error
        else:
            yield from read_range(file, *piece)
