"""Dumps and archives whose end can be recognised."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Pattern

HEAD, TAIL = 4096, 8 << 10  # bytes at the start and at the end that are looked at
# What may be before the first line of a dump: comments, statements that somebody added, warnings of the program.
_BEFORE = re.compile(rb"(?:\s*|\s*(?:--|#|/\*|\\).*|.*;\s*|[a-z_-]*dump(?:all)?(?:\.exe)?: .*)")
_END_OF_TAR = b"\0" * 1024


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
            return size % 512 == 0 and tail.endswith(_END_OF_TAR)
        return self.last.search(tail) is not None


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
