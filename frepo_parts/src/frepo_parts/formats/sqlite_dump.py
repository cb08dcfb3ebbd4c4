"""Tables of what `sqlite3 FILE .dump` writes."""

import re
import sqlite3
from collections.abc import Iterator
from typing import BinaryIO

from frepo_core.plugins import NotListable, Part

from .pieces import merged, size_of
from .sql_dialects import SQLITE
from .sql_statements import Scanner, Statement

_START = re.compile(rb"(?:/\*[^\n]{0,200}\*/\r?\n)?PRAGMA foreign_keys=OFF;\r?\nBEGIN TRANSACTION;\r?\n")
_NAME = rb"(\"(?:[^\"]|\"\")+\"|'(?:[^']|'')+'|`[^`]+`|\[[^\]]+\]|[\w$\x80-\xff]+)"
_TABLE = re.compile(rb"CREATE TABLE (?:IF NOT EXISTS )?" + _NAME)
_ROW = re.compile(rb"INSERT INTO " + _NAME + rb"(?:\([^)]*\))? ?VALUES ?\(")
_INDEX = re.compile(rb"CREATE (?:UNIQUE )?INDEX (?:IF NOT EXISTS )?" + _NAME + rb" ON " + _NAME)
_COUNTER = re.compile(rb"INSERT INTO sqlite_sequence VALUES\('((?:[^']|'')*)',")
_FRAME = re.compile(rb"PRAGMA foreign_keys=OFF;|BEGIN TRANSACTION;|COMMIT;|ROLLBACK;")


def _is_complete(text: bytes) -> bool:
    """Whether this is a whole statement: semicolons within a trigger end none."""
    return not text.startswith(b"CREATE T") or sqlite3.complete_statement(text.decode("utf-8", "replace"))


def unquoted(name: bytes) -> str:
    """Return a name without its quotes."""
    if name[:1] in {b'"', b"'", b"`", b"["}:
        name = name[1:-1].replace(name[:1] * 2, name[:1])
    return name.decode("utf-8", "replace")


class _Tables:
    """The places of the tables, and of what surrounds them."""

    def __init__(self) -> None:
        self.frame: list[tuple[int, int]] = []
        self.places: dict[str, list[tuple[int, int]]] = {}
        self.rows: dict[str, int] = {}
        self.counters: dict[str, tuple[int, int]] = {}
        self.reset: tuple[int, int] | None = None
        self.is_ended = False

    def add(self, statement: Statement) -> None:
        text, place = statement.text, (statement.start, statement.end)
        if text.startswith(b"."):
            raise NotListable("It has commands of the program sqlite3, which no dump has")
        self.is_ended = text in {b"COMMIT;", b"ROLLBACK;"}
        if _FRAME.fullmatch(text):
            self.frame.append(place)
        elif found := _TABLE.match(text):
            self.places.setdefault(unquoted(found[1]), []).append(place)
        elif found := _COUNTER.match(text):
            self.counters[found[1].replace(b"''", b"'").decode("utf-8", "replace")] = place
        elif text == b"DELETE FROM sqlite_sequence;":
            self.reset = place
        elif (found := _ROW.match(text)) and (name := unquoted(found[1])) in self.places:
            self._extend(name, place)
            self.rows[name] = self.rows.get(name, 0) + 1
        elif (found := _INDEX.match(text)) and (name := unquoted(found[2])) in self.places:
            self._extend(name, place)

    def _extend(self, name: str, place: tuple[int, int]) -> None:
        places = self.places[name]
        if places[-1][1] == place[0]:
            places[-1] = (places[-1][0], place[1])
        else:
            places.append(place)

    def parts(self) -> Iterator[Part]:
        for name, places in self.places.items():
            counter = [self.reset, self.counters[name]] if self.reset and name in self.counters else []
            pieces = merged([*self.frame, *places, *(one for one in counter if one)])
            yield Part(name=name, kind="table", size=size_of(pieces), rows=self.rows.get(name, 0), place=pieces)


def recognizes(head: bytes) -> bool:
    """Whether these first bytes are of the format."""
    return _START.match(head) is not None


def list_parts(file: BinaryIO) -> Iterator[Part]:
    """Yield the tables: each with its rows and indexes, without triggers, which may name other tables."""
    tables = _Tables()
    for statement in Scanner(file.read, SQLITE, is_complete=_is_complete).statements():
        tables.add(statement)
    if not tables.is_ended:
        raise NotListable("It does not end with COMMIT, so it was cut off")
    yield from tables.parts()
