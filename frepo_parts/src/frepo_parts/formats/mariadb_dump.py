"""Tables of what mariadb-dump and mysqldump write."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from frepo_core.plugins import NotListable, Part

from .pieces import merged, size_of
from .sql_dialects import MYSQL
from .sql_statements import Scanner, Statement

_START = re.compile(
    rb"(?:/\*M?!999999\\- enable the sandbox mode \*/ ?\r?\n)?"
    rb"(?:-- (?:MariaDB|MySQL) dump \d|\s*/\*!\d+ SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT \*/;)"
)
_NAME = rb"(`(?:[^`]|``)+`)"
_STRING = re.compile(rb"'[^'\\]*(?:\\.[^'\\]*)*'|\"[^\"\\]*(?:\\.[^\"\\]*)*\"", re.DOTALL)
_NEXT_ROW = re.compile(rb"\),\s*\(")
_USE = re.compile(rb"USE " + _NAME)
# What belongs to a table, and names it. Nothing else is given, so no command of the client and no foreign statement.
_OF_TABLE = re.compile(
    rb"(?:DROP TABLE IF EXISTS |CREATE TABLE (?:IF NOT EXISTS )?|INSERT (?:IGNORE )?INTO |REPLACE INTO |"
    rb"/\*!\d+ ALTER TABLE )" + _NAME
)
# A sequence is named with its database, which is another one where the table is loaded.
_NEXT_VALUE = re.compile(rb"(?i:nextval)\(`(?:[^`]|``)+`\.(`(?:[^`]|``)+`)\)")
# They lock the table alone, not the sequence that it uses.
_LOCKS = re.compile(rb"LOCK TABLES |UNLOCK TABLES;")
_OF_SEQUENCE = re.compile(rb"(?:DROP SEQUENCE IF EXISTS |CREATE SEQUENCE |(?:SELECT|DO) SETVAL\()" + _NAME)
# Settings around a definition or the rows.
_AROUND = re.compile(
    rb"/\*M?!\d+ SET (?:@saved_cs_client|character_set_client) *= *@?[\w@]+ *\*/;|SET @saved_cs_client = [\w@]+;"
    rb"|(?i:set autocommit=0;|commit;)"
)
_SETTING = re.compile(rb"/\*M?!\d+ SET [^;]*\*/;|/\*M?!999999\\- enable the sandbox mode \*/|SET [^;]*;")
_RESTORED = re.compile(rb"/\*M?!\d+ SET \w+=(?:IFNULL\()?@OLD_")


def _count_rows(piece: bytes) -> int:
    """Count the ends of rows in a piece of INSERT that has whole strings only."""
    return len(_NEXT_ROW.findall(_STRING.sub(b"", piece)))


@dataclass(kw_only=True)
class _Object:
    """A table or a sequence: its places, rows and definition."""

    places: list[tuple[int, int]] = field(default_factory=list)
    rows: int = 0
    definition: bytes = b""
    defined_at: int = 0
    has_command: bool = False


class _Tables:
    """The places of the tables of all databases, and of the settings before and behind them."""

    def __init__(self) -> None:
        self.before: list[tuple[int, int]] = []
        self.behind: list[tuple[int, int]] = []
        self.tables: dict[tuple[str, str], _Object] = {}
        self.sequences: dict[tuple[str, str], _Object] = {}
        self.database, self.databases = "", 0
        self._current: _Object | None = None
        self._waiting: list[tuple[int, int]] = []

    def add(self, statement: Statement) -> None:
        text, place = statement.text, (statement.start, statement.end)
        if found := _USE.match(text):
            self.database, self._current = _unquoted(found[1]), None
            self.databases += 1
        elif found := _OF_TABLE.match(text):
            self._extend(self.tables, _unquoted(found[1]), statement)
        elif found := _OF_SEQUENCE.match(text):
            self._extend(self.sequences, _unquoted(found[1]), statement)
        elif _LOCKS.match(text):
            pass
        elif _AROUND.fullmatch(text):
            if self._current:
                self._current.places.append(place)
        elif _SETTING.fullmatch(text):
            self._current = None
            if _RESTORED.match(text):
                self.behind.append(place)
            elif not self.tables:
                self.before.append(place)
        else:
            self._current = None

    def _extend(self, objects: dict[tuple[str, str], _Object], name: str, statement: Statement) -> None:
        self._current = one = objects.setdefault((self.database, name), _Object())
        one.places.append((statement.start, statement.end))
        one.has_command |= statement.has_command
        if statement.text[:6] in {b"INSERT", b"REPLAC"}:
            one.rows += statement.rows + 1
        if statement.text.startswith(b"CREATE "):
            one.definition, one.defined_at = statement.text, statement.start

    def parts(self) -> Iterator[Part]:
        for (database, name), table in self.tables.items():
            if not table.definition:
                continue
            needed = [
                one
                for (of, sequence), one in self.sequences.items()
                if of == database and b"`%b`" % sequence.replace("`", "``").encode() in table.definition
            ]
            places = [*self.before, *(place for one in needed for place in one.places), *table.places, *self.behind]
            pieces = list(_pieces(places, table))
            yield Part(
                name=f"{database}/{name}" if self.databases > 1 else name,
                kind="table",
                size=size_of(pieces),
                rows=table.rows,
                refusal="The dump has commands of its client here" if table.has_command else "",
                place=pieces,
            )


def _pieces(places: list[tuple[int, int]], table: _Object) -> Iterator[list[int] | str]:
    """Yield the pieces of a table. A definition that names a sequence with its database is written without that."""
    changed = _NEXT_VALUE.sub(rb"nextval(\1)", table.definition)
    if changed == table.definition:
        yield from merged(places)
        return
    yield from merged(place for place in places if place[0] < table.defined_at)
    yield "\n" + changed.decode("utf-8", "replace") + "\n"
    yield from merged(place for place in places if place[0] > table.defined_at)


def _unquoted(name: bytes) -> str:
    return name[1:-1].replace(b"``", b"`").decode("utf-8", "replace")


def recognizes(head: bytes) -> bool:
    """Whether these first bytes are of the format."""
    return _START.match(head) is not None


def list_parts(file: BinaryIO) -> Iterator[Part]:
    """Yield the tables: each with its rows and the sequences it needs, without triggers."""
    tables = _Tables()
    for statement in Scanner(file.read, MYSQL, count_rows=_count_rows).statements():
        tables.add(statement)
    if tables.before and not tables.behind:
        raise NotListable("It does not end with the settings that it begins with, so it was cut off")
    yield from tables.parts()
