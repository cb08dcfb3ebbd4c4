"""Checks a dump of `pg_dump -Fc`: its table of contents, and the block of each entry that has data.

The format is that of `pg_backup_archiver.c` and `pg_backup_custom.c` of PostgreSQL; versions 1.12 (PostgreSQL 9.0) to
1.16 (17).
"""

from ...budget import Budget
from ...byte_stream import ByteStream
from ...outcomes import BrokenContent, NotCheckable
from ..format import Format, Reader

START = b"PGDMP"
_CUSTOM = 1
_OLDEST, _NEWEST = (1, 12), (1, 16)
_DATA, _BLOBS = 1, 3
_NO_DATA = 3
_TOC = "its table of contents"
_MAX_TEXT = 1 << 30


class _Dump:
    """Reads the numbers and texts of a dump."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        reader.skip(len(START), _TOC)
        version = reader.take(3, _TOC)
        number_size, offset_size, self.format = reader.take(3, _TOC)
        self.version = (version[0], version[1])
        if not _OLDEST <= self.version <= _NEWEST or not 0 < number_size <= 8:
            raise NotCheckable(f"dumps of pg_dump of version {version[0]}.{version[1]} are not known")
        self._number_size, self._offset_size = number_size, offset_size

    def number(self, part: str = _TOC) -> int:
        """Read a number with its sign."""
        sign = self.reader.take(1, part)[0]
        value = self.reader.number(self._number_size, part)
        return -value if sign else value

    def skip_text(self) -> int:
        """Read over a text; return its size, -1 if there is none."""
        size = self._text_size()
        self.reader.skip(max(size, 0), _TOC)
        return size

    def text(self) -> str:
        """Read a text of at most a few thousand bytes."""
        return self.reader.take(max(self._text_size(), 0), _TOC).decode("utf-8", "replace")

    def _text_size(self) -> int:
        size = self.number()
        if size > _MAX_TEXT:
            raise self.reader.broken(f"a text of {size} bytes is before byte {self.reader.offset}")
        return size

    def has_data(self) -> bool:
        """Read where the data of an entry is: not written into a pipe, so only whether there is any."""
        state = self.reader.take(1, _TOC)[0]
        self.reader.skip(self._offset_size, _TOC)
        return state != _NO_DATA


def check(source: ByteStream, budget: Budget) -> str:
    """Read the table of contents, then all blocks."""
    dump = _Dump(Reader(source, budget, "pgdump", "the dump of pg_dump"))
    missing = _read_contents(dump)
    entries = len(missing)
    while not dump.reader.is_at_end():
        kind, entry = dump.reader.take(1, "a block")[0], dump.number("a block")
        if kind == _DATA:
            _skip_chunks(dump)
        elif kind == _BLOBS:
            while dump.number("a large object"):
                _skip_chunks(dump)
        else:
            raise dump.reader.broken(f"no block begins before byte {dump.reader.offset}")
        missing.discard(entry)
    if missing:
        raise dump.reader.broken(f"the data of {len(missing)} of {entries} tables is missing")
    return f"The dump of pg_dump is whole, {entries} of its entries have data"


def read_database(head: bytes) -> str:
    """Return the database of a dump, or of the file `toc.dat` of one, by its first bytes; empty if it is not there."""
    nothing = Budget(0, max_output=0, max_ratio=1)
    try:
        dump = _Dump(Reader(ByteStream(iter([head])), nothing, "pgdump", "the dump of pg_dump"))
        _skip_header(dump)
        return dump.text()
    except (BrokenContent, NotCheckable):
        return ""


def _skip_header(dump: _Dump) -> None:
    if dump.version >= (1, 15):
        dump.reader.skip(1, _TOC)  # the kind of compression
    else:
        dump.number()
    for _ in range(7):  # when it was made
        dump.number()


def _read_contents(dump: _Dump) -> set[int]:
    """Return the numbers of the entries that have data."""
    _skip_header(dump)
    for _ in range(3):  # the database, the server, the program
        dump.skip_text()
    with_data = set()
    for _ in range(dump.number()):
        entry = dump.number()
        dump.number()
        _skip_entry(dump)
        if dump.has_data():
            with_data.add(entry)
    return with_data


def _skip_entry(dump: _Dump) -> None:
    """Read over what an entry has besides its number and its data."""
    for _ in range(4):  # its object identifiers, name and kind
        dump.skip_text()
    dump.number()
    for _ in range(5 + (dump.version >= (1, 14))):  # statements, schema, tablespace, access method
        dump.skip_text()
    if dump.version >= (1, 16):
        dump.number()
    for _ in range(2):  # the owner, and whether it has object identifiers
        dump.skip_text()
    while dump.skip_text() >= 0:  # what it depends on
        pass


def _skip_chunks(dump: _Dump) -> None:
    while size := dump.number("a block"):
        dump.reader.skip(size, "a block")


FORMAT = Format(
    kind="pgdump",
    label="PostgreSQL archive",
    suffixes=(".pgdump",),
    recognizes=lambda head: head.startswith(START) and head[10:11] == bytes([_CUSTOM]),
    check=check,
    database=read_database,
)
