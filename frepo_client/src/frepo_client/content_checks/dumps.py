"""Dumps and archives whose end can be recognised."""

from __future__ import annotations

import re
from dataclasses import dataclass
from re import Pattern

HEAD, TAIL = 4096, 256 << 10  # bytes at the start and at the end that are looked at
# What may be before the first line of a dump: comments, statements that somebody added, warnings of the program.
_BEFORE = re.compile(rb"(?:\s*|\s*(?:--|#|/\*|\\).*|.*;\s*|[a-z_-]*dump(?:all)?(?:\.exe)?: .*)")
_END_OF_TAR = b"\0" * 1024
_PIXZ_INDEX = b"\xa6\x4c\x32\x2e\xd6\x14\xae\xdb"


@dataclass(frozen=True)
class Dump:
    """What a program writes: its first line, and what it writes last. `end` is that, for messages."""

    name: str
    begin: Pattern[bytes]
    last: Pattern[bytes] | None
    end: str
    covers: str = "content"

    def is_begun(self, head: bytes) -> bool:
        """Whether the first bytes are those of such a dump."""
        match = self.begin.search(head)
        return match is not None and all(map(_BEFORE.fullmatch, head[: match.start()].splitlines()))

    def has_end(self, tail: bytes, size: int) -> bool:
        """Whether the last bytes are those of a whole one with this size in bytes."""
        if self.last is None:
            return _is_whole_tar(tail, size)
        return self.last.search(tail) is not None


def _is_whole_tar(tail: bytes, size: int) -> bool:
    """Whether an archive ends with zeros, or with the index of pixz, whose last number says where the archive ended."""
    if size % 512 == 0 and tail.endswith(_END_OF_TAR):
        return True
    end = int.from_bytes(tail[-8:], "little")
    is_index = tail[-9:-8] == b"\0" and end % 512 == 0 and end < size < 2 * end
    return is_index and (size - end > len(tail) or tail.startswith(_PIXZ_INDEX, len(tail) - (size - end)))


def _sql(name: str, begin: bytes, last: bytes, end: str) -> Dump:
    # The last bytes may begin within a row, so the last line must have a line before it.
    return Dump(name, re.compile(rb"^" + begin, re.MULTILINE), re.compile(rb"\n" + last), end)


# The dump of a whole cluster contains those of its databases, so it is the first.
_DUMPS = (
    _sql(
        "dump of pg_dumpall",
        rb"-- PostgreSQL database cluster dump\r?$",
        rb"--\r?\n-- PostgreSQL database cluster dump complete",
        "its last line",
    ),
    _sql(
        "dump of pg_dump",
        rb"-- PostgreSQL database dump\r?$",
        rb"--\r?\n-- PostgreSQL database dump complete",
        "its last line",
    ),
    _sql("dump of mariadb-dump", rb"-- (?:MySQL|MariaDB) dump \d", rb"-- Dump completed", "the line `Dump completed`"),
    _sql(  # without comments
        "dump of mariadb-dump",
        rb"/\*M?!\d+ SET @OLD_(?:SQL_NOTES|NOTE_VERBOSITY)=@@",
        rb"/\*M?!\d+ SET (?:SQL_NOTES=@OLD_SQL_NOTES|NOTE_VERBOSITY=@OLD_NOTE_VERBOSITY) \*/;",
        "the statement that restores SQL_NOTES",
    ),
    _sql(
        "dump of sqlite3",
        rb"PRAGMA foreign_keys=OFF;\r?\nBEGIN TRANSACTION;\r?$",
        rb"COMMIT;\s*\Z",
        "the line `COMMIT;`",
    ),
    Dump("tar archive", re.compile(rb"\A[^\0].{256}ustar", re.DOTALL), None, "its end of zeros", "container"),
)


def find_dump(head: bytes) -> Dump | None:
    """Return what begins with these bytes, None if that is not known."""
    return next((dump for dump in _DUMPS if dump.is_begun(head)), None)
