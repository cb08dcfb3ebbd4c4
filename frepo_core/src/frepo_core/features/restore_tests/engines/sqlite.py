"""The engine `sqlite`: a database file, or what `sqlite3 .dump` writes."""

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO

from frepo_core.plugins import NotDecided, NotRestored, RestoreSource

HEAD = b"SQLite format 3\x00"
PIECE = 1 << 18
_DUMP = re.compile(rb"(?:\s|--[^\n]*\n)*(?:PRAGMA|BEGIN|CREATE|INSERT|/\*)\b", re.IGNORECASE)
# What this SQLite lacks, and others have.
_MISSING = re.compile(r"no such (?:module|function|collation sequence)|unknown tokenizer|malformed database schema")
_ROLLBACK = re.compile(rb"\s*ROLLBACK\b", re.IGNORECASE)


class _Copy:
    note = ""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def ask(self, question: str) -> object:
        try:
            row = self._database.execute(question).fetchone()
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise ValueError(str(error)) from error
        return row[0] if row else None

    def tables(self) -> Mapping[str, bool]:
        query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        return {name: self._has_rows(name) for (name,) in self._database.execute(query).fetchall()}

    def _has_rows(self, name: str) -> bool:
        quoted = '"' + name.replace('"', '""') + '"'
        return self._database.execute(f"SELECT 1 FROM {quoted} LIMIT 1").fetchone() is not None


@contextmanager
def restore_sqlite(source: RestoreSource) -> Iterator[_Copy]:
    """Write or build the database, and let SQLite check all of it."""
    path = source.folder / "database"
    head = source.content.read(len(HEAD))
    try:
        if head == HEAD:
            _write(path, head, source.content)
        elif _DUMP.match(head):
            _load(path, head, source.content)
        else:
            raise NotDecided("this is neither a database of SQLite nor what `sqlite3 .dump` writes")
        with closing(sqlite3.connect(path)) as database:
            _check(database)
            yield _Copy(database)
    except sqlite3.Error as error:
        raise (NotDecided if _MISSING.search(str(error)) else NotRestored)(f"SQLite says: {error}") from error


def _write(path: Path, head: bytes, content: BinaryIO) -> None:
    with path.open("wb") as file:
        while head:
            file.write(head)
            head = content.read(PIECE)


def _load(path: Path, head: bytes, content: BinaryIO) -> None:
    """Run the statements of a dump, as the shell of SQLite does."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        statement = b""
        for line in _lines(head, content):
            statement += line
            if line.rstrip().endswith(b";") and sqlite3.complete_statement(statement.decode()):
                if _ROLLBACK.match(statement):
                    raise NotRestored("the dump ends with a ROLLBACK: the database had errors when it was made")
                database.execute(statement.decode())
                statement = b""
        if statement.strip() or database.in_transaction:
            raise NotRestored("the dump ends before its COMMIT")


def _lines(head: bytes, content: BinaryIO) -> Iterator[bytes]:
    yield head + content.readline()
    yield from iter(content.readline, b"")


def _check(database: sqlite3.Connection) -> None:
    found = [row[0] for row in database.execute("PRAGMA integrity_check(3)")]
    if found != ["ok"]:
        raise NotRestored(f"SQLite finds damage: {'; '.join(map(str, found))}")
