"""Recognizes dumps in SQL by their first lines, and a whole one by the last line that its program writes."""

import re
from dataclasses import dataclass

from ..budget import Budget
from ..byte_stream import ByteStream
from ..outcomes import BrokenContent

# A dump's first comment is in its first lines, and its last comment in its last lines, unless somebody added
# statements.
HEAD = 4096
TAIL = 8 << 10


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program that writes dumps: the lines that it writes first and last. `last` is that line, for messages."""

    name: str
    first_line: re.Pattern[bytes]
    last_line: re.Pattern[bytes]
    last: str


def _line(pattern: str) -> re.Pattern[bytes]:
    return re.compile(rb"^" + pattern.encode(), re.MULTILINE)


def _later_line(pattern: str) -> re.Pattern[bytes]:
    """Return a pattern that does not match at the start, because the last bytes of a content may begin within a row."""
    return re.compile(rb"\n" + pattern.encode())


# pg_dump marks the line by empty comments above it, so that a row of a table cannot be taken for it. The dump of a
# whole cluster contains the dumps of its databases, so it comes first.
PROGRAMS = (
    Program(
        name="pg_dumpall",
        first_line=_line(r"-- PostgreSQL database cluster dump\r?$"),
        last_line=_later_line(r"--\r?\n-- PostgreSQL database cluster dump complete"),
        last="-- PostgreSQL database cluster dump complete",
    ),
    Program(
        name="pg_dump",
        first_line=_line(r"-- PostgreSQL database dump\r?$"),
        last_line=_later_line(r"--\r?\n-- PostgreSQL database dump complete"),
        last="-- PostgreSQL database dump complete",
    ),
    Program(
        name="mysqldump",
        first_line=_line(r"-- MySQL dump \d"),
        last_line=_later_line(r"-- Dump completed"),
        last="-- Dump completed",
    ),
    Program(
        name="mariadb-dump",
        first_line=_line(r"-- MariaDB dump \d"),
        last_line=_later_line(r"-- Dump completed"),
        last="-- Dump completed",
    ),
    Program(
        name=".dump of sqlite3",
        first_line=_line(r"PRAGMA foreign_keys=OFF;\r?\nBEGIN TRANSACTION;\r?$"),
        last_line=_later_line(r"COMMIT;\s*\Z"),
        last="COMMIT;",
    ),
)


# What may come before a dump's first line: comments, statements that somebody added, warnings of the program.
_BEFORE = re.compile(rb"(?:\s*|\s*(?:--|#|/\*|\\).*|.*;\s*|[a-z_-]*dump(?:all)?(?:\.exe)?: .*)")


def recognize(head: bytes) -> Program | None:
    """Return the program that wrote a content with these first bytes, or None."""
    for program in PROGRAMS:
        match = program.first_line.search(head[:HEAD])
        if match and all(_BEFORE.fullmatch(line) for line in head[: match.start()].splitlines()):
            return program
    return None


def check_sql(source: ByteStream, program: Program, budget: Budget) -> None:
    """Read to the end and check the last lines. Raises `BrokenContent`."""
    tail = b""
    while data := source.take():
        budget.spend()
        tail = (tail + data)[-TAIL:]
    check_tail(tail, program)


def check_tail(tail: bytes, program: Program) -> None:
    """Check the last 8 KiB of a dump. Raises `BrokenContent`."""
    if not program.last_line.search(tail):
        message = f"The dump ends too early: the line `{program.last}`, which {program.name} writes last, is missing"
        raise BrokenContent("sql", message)
