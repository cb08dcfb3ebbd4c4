"""What of a dump of PostgreSQL belongs to one table: its rows, and the types, sequences and functions that it needs.

pg_dump names each object with its schema, so what a definition needs is found by the names in it.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from frepo_core.plugins import NotListable

from .sql_statements import Statement

_NAME = rb'(?:"(?:[^"]|"")+"|[\w$\x80-\xff]+)'
_QUALIFIED = rb"(" + _NAME + rb"\." + _NAME + rb")"
_NAMES = re.compile(_QUALIFIED)
_NEXT = re.compile(rb"nextval\('((?:[^']|'')+)'")


def _pattern(text: str) -> re.Pattern[bytes]:
    return re.compile(text.encode().replace(b"NAME", _NAME).replace(b"QUALIFIED", _QUALIFIED))


_TABLE = _pattern(r"CREATE (?:UNLOGGED )?TABLE QUALIFIED")
_ROWS = _pattern(r"COPY QUALIFIED .*FROM stdin;\Z|INSERT INTO QUALIFIED ")
_INHERITS = _pattern(r"\nINHERITS \(([^()]*)\)")
_ATTACH = _pattern(r"ALTER TABLE (?:ONLY )?QUALIFIED ATTACH PARTITION QUALIFIED ")
_ATTACH_INDEX = _pattern(r"ALTER INDEX QUALIFIED ATTACH PARTITION QUALIFIED;")
_CHANGE = _pattern(
    r"ALTER TABLE (?:ONLY )?QUALIFIED\s+(?:ADD CONSTRAINT NAME (?:PRIMARY KEY|UNIQUE|CHECK|EXCLUDE|NOT NULL)"
    r"|ALTER COLUMN NAME (?:SET (?:DEFAULT|STATISTICS|STORAGE|COMPRESSION|NOT NULL|\()|ADD GENERATED)"
    r"|REPLICA IDENTITY|CLUSTER ON|SET \()"
)
_IDENTITY = _pattern(r"\bSEQUENCE NAME QUALIFIED")
_INDEX = _pattern(r"CREATE (?:UNIQUE )?INDEX (NAME) ON (?:ONLY )?QUALIFIED ")
_COMMENT = _pattern(r"COMMENT ON (?:TABLE QUALIFIED|COLUMN QUALIFIED\.NAME) IS ")
_SEQUENCE = _pattern(r"CREATE (?:UNLOGGED )?SEQUENCE QUALIFIED")
_OWNED = _pattern(r"ALTER SEQUENCE QUALIFIED OWNED BY QUALIFIED\.NAME;")
_SET_VALUE = re.compile(rb"SELECT pg_catalog\.setval\('((?:[^']|'')+)',")
_NEEDED = _pattern(r"CREATE (?:TYPE|DOMAIN|COLLATION|FUNCTION|AGGREGATE) QUALIFIED|ALTER TYPE QUALIFIED ADD VALUE ")
_EXTENSION = _pattern(r"CREATE EXTENSION IF NOT EXISTS (NAME) WITH SCHEMA (NAME);")
_SCHEMA = _pattern(r"CREATE SCHEMA (NAME);")
_SETTING = re.compile(rb"SET [a-z_.]+ (?:=|TO) [^;]*;|SELECT pg_catalog\.set_config\('search_path', '', false\);")
_OLD_STRINGS = re.compile(rb"SET standard_conforming_strings = '?off|SELECT pg_catalog\.set_config\('standard_conf")
_COMMAND = "The dump has commands of psql here, which no pg_dump writes"
_OWN_SCHEMAS = {b"public", b"pg_catalog"}


@dataclass(kw_only=True)
class _Object:
    """An object: the numbers of its statements, its texts, and the rows of a table."""

    numbers: list[int] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    rows: int = 0
    has_command: bool = False


@dataclass(frozen=True, kw_only=True)
class FoundTable:
    """A table: `numbers` are those of the statements that it consists of, in the order of the dump."""

    name: str
    rows: int
    refusal: str
    numbers: list[int]


def unquoted(name: bytes) -> str:
    """Return a name with its schema, `public/orders`, without quotes."""
    parts = re.findall(_NAME, name)
    return "/".join(
        (one[1:-1].replace(b'""', b'"') if one[:1] == b'"' else one).decode("utf-8", "replace") for one in parts
    )


class PgTables:
    """Gets all statements of a dump with their numbers, and finds what belongs to each table."""

    def __init__(self) -> None:
        self.settings: list[int] = []
        self.restricted: dict[str, int] = {}
        self._tables: dict[bytes, _Object] = {}
        self._needed: dict[bytes, _Object] = {}
        self._extensions: dict[bytes, list[int]] = {}
        self._schemas: dict[bytes, int] = {}
        self._owners: dict[bytes, bytes] = {}
        self._children: dict[bytes, list[tuple[bytes, int]]] = {}
        self._indexes: list[tuple[int, bytes, bytes]] = []
        self._index_tables: dict[bytes, bytes] = {}
        self._roles: list[tuple[re.Pattern[bytes], Callable[[re.Match[bytes], int, Statement], None]]] = [
            (_ROWS, self._add_rows),
            (_TABLE, self._add_table),
            (_ATTACH, lambda found, number, _: self._children.setdefault(found[1], []).append((found[2], number))),
            (_ATTACH_INDEX, lambda found, number, _: self._indexes.append((number, found[1], found[2]))),
            (_CHANGE, self._add_change),
            (_INDEX, self._add_index),
            (_COMMENT, self._add_change),
            (_SEQUENCE, self._add_needed),
            (_OWNED, self._add_owner),
            (_SET_VALUE, self._add_value),
            (_NEEDED, self._add_needed),
            (_EXTENSION, lambda found, number, _: self._extensions.setdefault(found[2], []).append(number)),
            (_SCHEMA, lambda found, number, _: self._schemas.update({found[1]: number})),
        ]

    def add(self, statement: Statement, number: int) -> None:
        """Note a statement. Raises `NotListable` for a dump whose strings psql reads otherwise."""
        text = statement.text
        if _OLD_STRINGS.match(text):
            raise NotListable("It was written with standard_conforming_strings off")
        if text.startswith((b"\\restrict ", b"\\unrestrict ")):
            self.restricted[text[1:2].decode()] = number
        elif _SETTING.fullmatch(text):
            if not (self._tables or self._needed):
                self.settings.append(number)
        else:
            for pattern, note in self._roles:
                if found := pattern.match(text):
                    note(found, number, statement)
                    return

    def _add_to(self, objects: dict[bytes, _Object], name: bytes, number: int, statement: Statement) -> _Object:
        one = objects.setdefault(name, _Object())
        if not one.numbers or one.numbers[-1] != number:
            one.numbers.append(number)
        one.has_command |= statement.has_command
        return one

    def _add_table(self, found: re.Match[bytes], number: int, statement: Statement) -> None:
        self._add_to(self._tables, found[1], number, statement).texts.append(statement.text)

    def _add_rows(self, found: re.Match[bytes], number: int, statement: Statement) -> None:
        name = found[1] or found[2]
        if name in self._tables:
            self._add_to(self._tables, name, number, statement).rows += statement.rows + (found[2] is not None)

    def _add_change(self, found: re.Match[bytes], number: int, statement: Statement) -> None:
        name = found[1] or found[2]
        if name in self._tables:
            self._add_to(self._tables, name, number, statement).texts.append(statement.text)
            if identity := _IDENTITY.search(statement.text):
                self._owners[identity[1]] = name

    def _add_index(self, found: re.Match[bytes], number: int, statement: Statement) -> None:
        if found[2] in self._tables:
            self._add_to(self._tables, found[2], number, statement).texts.append(statement.text)

    def _add_needed(self, found: re.Match[bytes], number: int, statement: Statement) -> None:
        self._add_to(self._needed, found[1] or found[2], number, statement).texts.append(statement.text)

    def _add_owner(self, found: re.Match[bytes], number: int, statement: Statement) -> None:
        if found[2] in self._tables and found[1] in self._needed:
            self._add_to(self._tables, found[2], number, statement).texts.append(found[1])

    def _add_value(self, found: re.Match[bytes], number: int, statement: Statement) -> None:
        name = found[1].replace(b"''", b"'")
        objects = self._needed if name in self._needed else self._tables
        name = self._owners.get(name, name)
        if name in objects:
            self._add_to(objects, name, number, statement)

    def found(self) -> Iterator[FoundTable]:
        """Yield the tables that have rows of their own or partitions, in the order of the dump."""
        for name in self._tables:
            members = self._members(name)
            numbers = {number for one in members for number in self._tables[one].numbers}
            numbers |= {
                number for parent in members for child, number in self._children.get(parent, ()) if child in members
            }
            texts = [text for one in members for text in self._tables[one].texts]
            needed, has_command = self._needs(texts, members)
            has_command |= any(self._tables[one].has_command for one in members)
            yield FoundTable(
                name=unquoted(name),
                rows=sum(self._tables[one].rows for one in members),
                refusal=_COMMAND if has_command else "",
                numbers=sorted(numbers | needed),
            )

    def _members(self, name: bytes) -> dict[bytes, None]:
        """Return the table and its partitions, theirs included."""
        members, left = {name: None}, [name]
        while left:
            for child, _ in self._children.get(left.pop(), ()):
                if child not in members and child in self._tables:
                    members[child] = None
                    left.append(child)
        return members

    def _needs(self, texts: list[bytes], members: dict[bytes, None]) -> tuple[set[int], bool]:
        """Return the numbers of the statements that these texts need, and whether a command is in one of them."""
        numbers: set[int] = set()
        seen, left, has_command = set(members), list(texts), False
        schemas = {re.match(_NAME, one)[0] for one in members}  # type: ignore[index]  # each has one
        while left:
            text = left.pop()
            names = set(_NAMES.findall(text)) | {one.replace(b"''", b"'") for one in _NEXT.findall(text)}
            parents = {one for each in _INHERITS.findall(text) for one in _NAMES.findall(each)}
            for name in names - seen:
                seen.add(name)
                one = self._needed.get(name) or (self._tables[name] if name in parents & self._tables.keys() else None)
                schema = re.match(_NAME, name)[0]  # type: ignore[index]
                if one is None:
                    numbers.update(self._extensions.get(schema, ()) if name not in self._tables else ())
                    continue
                schemas.add(schema)
                numbers.update(one.numbers if name in self._needed else one.numbers[:1])
                has_command |= one.has_command
                left += one.texts if name in self._needed else one.texts[:1]
        numbers |= {self._schemas[one] for one in schemas - _OWN_SCHEMAS if one in self._schemas}
        return numbers, has_command


def frame(tables: PgTables) -> tuple[list[int], list[int]]:
    """Return the numbers of the statements before and behind each table."""
    before = [tables.restricted["r"]] if {"r", "u"} <= tables.restricted.keys() else []
    behind = [tables.restricted["u"]] if before else []
    return before + tables.settings, behind
