"""The programs that write dumps in SQL, and the lines by which their dumps begin and end."""

import re
from dataclasses import dataclass

_NEVER = re.compile(rb"(?!)")


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program that writes dumps: the line that it writes first, its surroundings, and the line that it writes last.

    `last` is that line, for messages. `start` is found in the middle of a stream, too, even behind a line that was cut;
    it spans line ends, which few texts in a row have: most programs write those as `\\\\n`. `label` is what people call
    such a dump, and `database` finds the name of its database in its first lines. `more` is what it writes within a
    dump only: behind a last line, that was one in a text. `failed` is the last line after errors.
    """

    name: str
    label: str
    first_line: re.Pattern[bytes]
    start: re.Pattern[bytes]
    last_line: re.Pattern[bytes]
    last: str
    database: re.Pattern[bytes] = _NEVER
    more: re.Pattern[bytes] = _NEVER
    failed: re.Pattern[bytes] = _NEVER


XML_END = "</mysqldump>"
COMPLETED, WITHOUT_COMMENTS = "-- Dump completed", "mysqldump --skip-comments"
# What mysqldump sets first and restores last, also without comments. Newer ones of MariaDB have another name for it.
_NOTES = (
    r"/\*M?!\d+ SET @OLD_(?:SQL_NOTES=@@SQL_NOTES, SQL_NOTES|NOTE_VERBOSITY=@@NOTE_VERBOSITY, NOTE_VERBOSITY)=0 \*/;"
)
NOTES_LAST = "/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;"
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
        more=re.compile(rb"\n-- (?:Data for )?Name: [^\n]+; Type: [A-Z ]+; Schema: "),
    ),
    Program(
        name="mysqldump",
        label="MySQL/MariaDB dump",
        database=_MYSQL_DATABASE,
        first_line=_line(r"-- MySQL dump \d"),
        start=re.compile(rb"-- MySQL dump \d[^\n]{0,200}\n--\r?\n-- Host:"),
        last_line=_later_line(COMPLETED),
        last=COMPLETED,
    ),
    Program(
        name="mariadb-dump",
        label="MySQL/MariaDB dump",
        database=_MYSQL_DATABASE,
        first_line=_line(r"-- MariaDB dump \d"),
        start=re.compile(rb"-- MariaDB dump \d[^\n]{0,200}\n--\r?\n-- Host:"),
        last_line=_later_line(COMPLETED),
        last=COMPLETED,
    ),
    Program(
        name=WITHOUT_COMMENTS,
        label="MySQL/MariaDB dump",
        first_line=_line(_NOTES),
        start=re.compile(_MODE + _NOTES.encode()),
        # HeidiSQL begins likewise, and writes `IFNULL(@OLD_SQL_NOTES, 1)`.
        last_line=_later_line(
            r"/\*M?!\d+ SET (?:SQL_NOTES|NOTE_VERBOSITY)=(?:IFNULL\()?@OLD_(?:SQL_NOTES|NOTE_VERBOSITY)[^\n]{0,9} \*/;"
        ),
        last=NOTES_LAST,
    ),
    Program(
        name="mysqldump --xml",
        label="MySQL/MariaDB dump",
        database=re.compile(rb"^<database name=\"([^\"\n]*)\">", re.MULTILINE),
        first_line=_line(r"<\?xml version=\"1.0\"\?>\r?\n<mysqldump "),
        start=re.compile(rb"<\?xml version=\"1.0\"\?>\r?\n<mysqldump "),
        last_line=_later_line(r"</mysqldump>"),
        last=XML_END,
    ),
    Program(
        name="sqlite3",
        label="SQLite dump",
        first_line=_line(r"PRAGMA foreign_keys=OFF;\r?\nBEGIN TRANSACTION;\r?$"),
        start=re.compile(rb"PRAGMA foreign_keys=OFF;\r?\nBEGIN TRANSACTION;\r?\n"),
        last_line=_later_line(r"COMMIT;(?=\r?\n|\Z)"),
        last="COMMIT;",
        failed=re.compile(rb"\nROLLBACK;[^\n]*\s*\Z"),
    ),
)
