"""Recognizes dumps in SQL by their first lines, and whole ones by the last line that their program writes.

Several dumps may follow each other, as in `(pg_dumpall --globals-only; pg_dump shop)`: each has to have its own end.
"""

import re
from collections import Counter
from dataclasses import dataclass

from ..budget import Budget
from ..byte_stream import ByteStream
from ..outcomes import BrokenContent
from .sql_rows import RowDetector

# A dump's first comment is in its first lines, and its last comment in its last lines, unless somebody added
# statements, such as the grants of users.
HEAD = 4096
TAIL = 256 << 10
# No start and no end of a dump is longer.
_OVERLAP = 512


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program that writes dumps: the line that it writes first, its surroundings, and the line that it writes last.

    `last` is that line, for messages. `start` is found in the middle of a stream, too, even behind a line that was cut;
    it spans line ends, which few texts in a row have: most programs write those as `\\\\n`. `label` is what people call
    such a dump, and `database` finds the name of its database in its first lines.
    """

    name: str
    label: str
    first_line: re.Pattern[bytes]
    start: re.Pattern[bytes]
    last_line: re.Pattern[bytes]
    last: str
    database: re.Pattern[bytes] = re.compile(rb"(?!)")


_XML_END = "</mysqldump>"
_COMPLETED, _WITHOUT_COMMENTS = "-- Dump completed", "mysqldump --skip-comments"
# What mysqldump sets first and restores last, also without comments. Newer ones of MariaDB have another name for it.
_NOTES = (
    r"/\*M?!\d+ SET @OLD_(?:SQL_NOTES=@@SQL_NOTES, SQL_NOTES|NOTE_VERBOSITY=@@NOTE_VERBOSITY, NOTE_VERBOSITY)=0 \*/;"
)
_NOTES_LAST = "/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;"
_MODE = rb"/\*!\d+ SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='[^'\n]*' \*/;\r?\n"
_MYSQL_DATABASE = re.compile(rb"^-- Host: [^\n]*?    Database: ([^\r\n]*)", re.MULTILINE)
# pg_dump names its database only if it creates it (--create).
_PG_DATABASE = re.compile(rb"^CREATE DATABASE (\"(?:[^\"\n]|\"\")+\"|[^\s\"]+) WITH ", re.MULTILINE)


def _line(pattern: str) -> re.Pattern[bytes]:
    return re.compile(rb"^" + pattern.encode(), re.MULTILINE)


def _later_line(pattern: str) -> re.Pattern[bytes]:
    """Return a pattern that does not match at the start, because the last bytes of a content may begin within a row."""
    return re.compile(rb"\n" + pattern.encode())


# pg_dump marks the lines by empty comments around them, so that a row of a table cannot be taken for one. The dump of a
# whole cluster contains the dumps of its databases, so it comes first.
PROGRAMS = (
    Program(
        name="pg_dumpall",
        label="PostgreSQL cluster dump",
        first_line=_line(r"-- PostgreSQL database cluster dump\r?$"),
        start=re.compile(rb"--\r?\n-- PostgreSQL database cluster dump\r?\n--\r?\n"),
        last_line=_later_line(r"--\r?\n-- PostgreSQL database cluster dump complete"),
        last="-- PostgreSQL database cluster dump complete",
    ),
    Program(
        name="pg_dump",
        label="PostgreSQL dump",
        database=_PG_DATABASE,
        first_line=_line(r"-- PostgreSQL database dump\r?$"),
        start=re.compile(rb"--\r?\n-- PostgreSQL database dump\r?\n--\r?\n"),
        last_line=_later_line(r"--\r?\n-- PostgreSQL database dump complete"),
        last="-- PostgreSQL database dump complete",
    ),
    Program(
        name="mysqldump",
        label="MySQL/MariaDB dump",
        database=_MYSQL_DATABASE,
        first_line=_line(r"-- MySQL dump \d"),
        start=re.compile(rb"-- MySQL dump \d[^\n]{0,200}\n--\r?\n-- Host:"),
        last_line=_later_line(_COMPLETED),
        last=_COMPLETED,
    ),
    Program(
        name="mariadb-dump",
        label="MySQL/MariaDB dump",
        database=_MYSQL_DATABASE,
        first_line=_line(r"-- MariaDB dump \d"),
        start=re.compile(rb"-- MariaDB dump \d[^\n]{0,200}\n--\r?\n-- Host:"),
        last_line=_later_line(_COMPLETED),
        last=_COMPLETED,
    ),
    Program(
        name=_WITHOUT_COMMENTS,
        label="MySQL/MariaDB dump",
        first_line=_line(_NOTES),
        start=re.compile(_MODE + _NOTES.encode()),
        # HeidiSQL begins likewise, and writes `IFNULL(@OLD_SQL_NOTES, 1)`.
        last_line=_later_line(
            r"/\*M?!\d+ SET (?:SQL_NOTES|NOTE_VERBOSITY)=(?:IFNULL\()?@OLD_(?:SQL_NOTES|NOTE_VERBOSITY)[^\n]{0,9} \*/;"
        ),
        last=_NOTES_LAST,
    ),
    Program(
        name="mysqldump --xml",
        label="MySQL/MariaDB dump",
        database=re.compile(rb"^<database name=\"([^\"\n]*)\">", re.MULTILINE),
        first_line=_line(r"<\?xml version=\"1.0\"\?>\r?\n<mysqldump "),
        start=re.compile(rb"<\?xml version=\"1.0\"\?>\r?\n<mysqldump "),
        last_line=_later_line(r"</mysqldump>"),
        last=_XML_END,
    ),
    Program(
        name="sqlite3",
        label="SQLite dump",
        first_line=_line(r"PRAGMA foreign_keys=OFF;\r?\nBEGIN TRANSACTION;\r?$"),
        start=re.compile(rb"PRAGMA foreign_keys=OFF;\r?\nBEGIN TRANSACTION;\r?\n"),
        last_line=_later_line(r"COMMIT;(?=\r?\n|\Z)"),
        last="COMMIT;",
    ),
)

_LAST_LINES = {program.last: program.last_line for program in PROGRAMS}
# Each start and each last line has one of these. Most blocks of a dump have none, and need no other search.
LITERALS = (b"ump", b"@OLD_", b"PRAGMA foreign_keys=OFF;", b"\nCOMMIT;")

# What may come before a dump's first line: comments, statements that somebody added, warnings of the program, and those
# of ssh, shells and kubectl.
_BEFORE = re.compile(
    rb"\s*|\s*(?:--|#|/\*|\\).*|.*;\s*|[a-z_-]*dump(?:all)?(?:\.exe)?: .*"
    rb"|(?:[\w./-]+: )?(?i:warning): .*|Defaulted container .*"
)
_NO_TABLES = re.compile(rb"\s*PRAGMA foreign_keys=OFF;\s*BEGIN TRANSACTION;\s*COMMIT;\s*")


def recognize(head: bytes) -> Program | None:
    """Return the program that wrote a content with these first bytes, or None."""
    for program in PROGRAMS:
        match = program.first_line.search(head[:HEAD])
        if match and all(_BEFORE.fullmatch(line) for line in head[: match.start()].splitlines()):
            return program
    return None


def recognize_behind_text(head: bytes) -> Program | None:
    """Return the program whose dump begins in a later line of these first bytes, behind other text, or None.

    The text may be the greeting of a host, and the whole one a text about dumps.
    """
    starts = [(match.start(), one) for one in PROGRAMS for match in one.start.finditer(head[:HEAD])]
    lines = [(start, one) for start, one in starts if head[start - 1 : start] == b"\n" and b"\0" not in head[:start]]
    return min(lines, key=lambda found: found[0], default=(0, None))[1]


def text_in_front(head: bytes, program: Program) -> bytes:
    """Return what is in front of the first dump of a program in these first bytes."""
    match = program.start.search(head[:HEAD])
    return head[: match.start()] if match else b""


def read_database(head: bytes, program: Program) -> str:
    """Return the name of the database that the first 4,096 bytes give; empty if they give none."""
    match = program.database.search(head[:HEAD])
    name = match[1].strip() if match else b""
    if name.startswith(b'"'):
        name = name[1:-1].replace(b'""', b'"')
    return name.decode("utf-8", "replace")


def is_without_tables(head: bytes) -> bool:
    """Whether a content with these first bytes is what sqlite3 dumps of a database that it has just made itself."""
    return bool(_NO_TABLES.fullmatch(head))


def check_sql(source: ByteStream, program: Program, budget: Budget) -> tuple[int, bytes]:
    """Read to the end, and check that each dump in it has its end.

    Return how many there are, and what follows the last line of the last one. Raises `BrokenContent`.
    """
    dumps = _Dumps()
    tail = bytearray()  # pieces may be tiny, and it is not copied for each
    while data := source.take():
        budget.spend()
        dumps.read(data)
        tail += data
        if len(tail) > 2 * TAIL:
            del tail[:-TAIL]
    rest = check_tail(bytes(tail[-TAIL:]), program, *(one for one in PROGRAMS if dumps.begun[one]))
    cut = next((one for one in PROGRAMS if dumps.begun[one] and dumps.open_now[one.last]), None)
    if cut and dumps.begun.total() > 1:
        raise _broken(f"One of the {dumps.begun.total()} dumps in it", cut)
    return dumps.begun.total(), rest


class _Dumps:
    """Counts the dumps that begin and end in a stream, by programs, and those that are open, by their last lines.

    mysqldump and mariadb-dump have the same last line. A row of a table can contain the first lines of a dump: no dump
    begins there.
    """

    def __init__(self) -> None:
        self.begun: Counter[Program] = Counter()
        self.open_now: Counter[str] = Counter()
        self._recent = b""
        self._rows = RowDetector()
        self._doubtful: list[Program] = []

    def read(self, data: bytes) -> None:
        """Look at the next bytes."""
        overlap, window = len(self._recent), self._recent + data
        position = overlap
        for match, program in _find_starts_and_ends(window, overlap):
            self._resolve(window[position : match.end()])
            position = max(position, match.end())
            if isinstance(program, Program):
                self._begin(program, window, match)
            else:
                self._end(program)
        self._resolve(window[position:])
        self._rows.read(window, _OVERLAP)
        self._recent = window[-_OVERLAP:]

    def _begin(self, program: Program, window: bytes, match: re.Match[bytes]) -> None:
        if self.open_now[_XML_END] and program.last != _XML_END:
            return  # a text in XML has line ends; nobody sends XML and SQL in one stream
        if self.open_now[_COMPLETED] and program.name == _WITHOUT_COMMENTS:
            return  # a dump with comments begins with the same statements
        if self.begun.total():  # a row may have closed the dump that is open
            if self._rows.is_copied(window, match):
                return
            if not self._doubtful:
                self._rows.begin_text()
            self._doubtful.append(program)
        self.begun[program] += 1
        self.open_now[program.last] += 1

    def _end(self, last: str) -> None:
        if last == _NOTES_LAST and self.open_now[_COMPLETED]:
            return  # a dump with comments ends with the same statements
        self.open_now[last] = max(0, self.open_now[last] - 1)

    def _resolve(self, data: bytes) -> None:
        """Forget the doubtful starts if these bytes, which follow them, show that they are in a row."""
        is_in_row = self._rows.is_in_literal(data) if self._doubtful else None
        if is_in_row is None:
            return
        for program in self._doubtful if is_in_row else ():
            self.begun[program] -= 1
            self.open_now[program.last] = max(0, self.open_now[program.last] - 1)
        self._doubtful.clear()


def _find_starts_and_ends(window: bytes, overlap: int) -> list[tuple[re.Match[bytes], Program | str]]:
    """Return in order what is new in the window: starts with their programs, and ends with their last lines."""
    if not any(literal in window for literal in LITERALS):
        return []
    found: list[tuple[re.Match[bytes], Program | str]] = []
    for program in PROGRAMS:
        found += [(match, program) for match in program.start.finditer(window)]
    for last, pattern in _LAST_LINES.items():
        found += [(match, last) for match in pattern.finditer(window)]
    return sorted((one for one in found if one[0].end() > overlap), key=lambda one: one[0].end())


def check_tail(tail: bytes, program: Program, *others: Program) -> bytes:
    """Check that the last 256 KiB have the last line of the program, or of one that wrote another dump behind its own.

    Return the lines that follow it. Raises `BrokenContent`.
    """
    ends = [match.end() for one in (program, *others) for match in one.last_line.finditer(tail)]
    if not ends:
        raise _broken("The dump", program)
    return tail[max(ends) :].partition(b"\n")[2]


def _broken(what: str, program: Program) -> BrokenContent:
    message = f"{what} ends too early: the line `{program.last}`, which {program.name} writes last, is missing"
    return BrokenContent("sql", message)
