"""Tables of what pg_dump writes in SQL."""

import re
from collections.abc import Iterator
from typing import BinaryIO

from frepo_core.plugins import NotListable, Part

from .pg_tables import PgTables, frame
from .pieces import merged, size_of
from .sql_dialects import POSTGRESQL
from .sql_statements import Scanner

_START = re.compile(rb"--\r?\n-- PostgreSQL database (?:cluster )?dump\r?\n--\r?\n")
_STRING, _NEXT_ROW = re.compile(rb"'[^']*'"), re.compile(rb"\),\s+\(")
_CLUSTER = re.compile(rb"--\r?\n-- PostgreSQL database cluster dump")


def _count_rows(piece: bytes) -> int:
    """Count the ends of rows but the last one in a piece of INSERT that has whole strings only."""
    return len(_NEXT_ROW.findall(_STRING.sub(b"", piece)))


def recognizes(head: bytes) -> bool:
    """Whether these first bytes are of the format."""
    return _START.match(head) is not None


def list_parts(file: BinaryIO) -> Iterator[Part]:
    """Yield the tables: each with its rows, indexes and constraints but foreign keys, and what it needs."""
    if _CLUSTER.match(file.read(100)):
        raise NotListable("It is a dump of a whole cluster, by pg_dumpall: tables of several databases are not listed")
    file.seek(0)
    tables = PgTables()
    places: list[tuple[int, int]] = []
    last = b""
    for statement in Scanner(file.read, POSTGRESQL, count_rows=_count_rows).statements():
        rows = statement.text.partition(b" VALUES ")[0] if statement.text.startswith(b"INSERT INTO ") else b""
        if rows and rows == last:  # they are millions: those that follow each other are one place
            places[-1] = (places[-1][0], statement.end)
        else:
            places.append((statement.start, statement.end))
        last = rows
        tables.add(statement, len(places) - 1)
    before, behind = frame(tables)
    for table in tables.found():
        pieces = merged(places[number] for number in {*before, *table.numbers, *behind})
        yield Part(
            name=table.name,
            kind="table",
            size=size_of(pieces),
            rows=table.rows,
            refusal=table.refusal,
            place=pieces,
        )
