"""Runs the statements of each request on SQLite by its driver: through SQLAlchemy, one takes three times as long.

A statement is compiled once, with what converts its values and columns. Other databases get it through SQLAlchemy:
there, most of the time is that of the messages. So do engines to whose statements somebody listens
(`before_cursor_execute`), such as tests.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from sqlalchemy import Connection, Dialect, Insert, Row, Select, Update
from sqlalchemy.engine import result_tuple
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import TypeEngine

Statement: TypeAlias = "Select[*tuple[Any, ...]] | Insert | Update"
Converter: TypeAlias = Callable[[Any], Any]

MAX_STATEMENTS = 500


def fetch(connection: Connection, query: "Select[*tuple[Any, ...]]", values: Mapping[str, Any]) -> Sequence[Row[Any]]:
    """Return the rows of a query on tables, which is built once; `values` are those of its `bindparam`s."""
    if (prepared := _prepared(connection, query, values)) is None:
        return connection.execute(query, values).all()
    return prepared.rows(prepared.run(connection, values).fetchall())


def change(connection: Connection, statement: Insert | Update, values: Mapping[str, Any]) -> int:
    """Run a statement that writes to a table, and is built once. Return the number of rows that it has written."""
    if (prepared := _prepared(connection, statement, values)) is None:
        return connection.execute(statement, values).rowcount
    return prepared.run(connection, values).rowcount


def insert(connection: Connection, statement: Insert, values: Mapping[str, Any]) -> int:
    """Insert a row by a statement that is built once; return its id, which the database chooses."""
    if (prepared := _prepared(connection, statement, values)) is not None:
        return int(prepared.run(connection, values).lastrowid or 0)
    key = connection.execute(statement, values).inserted_primary_key
    assert key is not None
    return int(key[0])


@dataclass(frozen=True)
class _Prepared:
    """A statement for SQLite: its text, its parameters in order, each with a constant, and what makes its rows."""

    dialect: Dialect
    text: str
    parameters: Sequence[tuple[str, Any, Converter | None]]
    converters: Sequence[tuple[int, Converter]]
    make_row: Callable[[Sequence[Any]], Row[Any]]

    def run(self, connection: Connection, values: Mapping[str, Any]) -> sqlite3.Cursor:
        """Run it on the driver's connection. Raises the errors of SQLAlchemy."""
        driver: Any = connection.connection.driver_connection
        given = []
        for name, constant, convert in self.parameters:
            value = values.get(name, constant)
            given.append(value if convert is None else convert(value))
        try:
            cursor: sqlite3.Cursor = driver.execute(self.text, given)
        except sqlite3.Error as error:
            raise DBAPIError.instance(
                self.text, None, error, sqlite3.Error, hide_parameters=True, dialect=self.dialect
            ) from error
        return cursor

    def rows(self, found: Sequence[Sequence[Any]]) -> Sequence[Row[Any]]:
        """Convert what the driver has found."""
        rows = [list(row) for row in found]
        for position, convert in self.converters:
            for row in rows:
                row[position] = convert(row[position])
        return [self.make_row(row) for row in rows]


def _prepared(connection: Connection, statement: Statement, values: Mapping[str, Any]) -> _Prepared | None:
    """Return the statement for the driver; None if SQLAlchemy has to run it: somebody listens."""
    if connection.dialect.name != "sqlite" or connection.engine.dispatch.before_cursor_execute:
        return None
    return _prepare(connection.dialect, statement, tuple(values))


@lru_cache(MAX_STATEMENTS)
def _prepare(dialect: Dialect, statement: Statement, names: tuple[str, ...]) -> _Prepared:
    compiled: Any = statement.compile(dialect=dialect, column_keys=names)
    constants, parameters = compiled.params, []
    for name in compiled.positiontup:
        convert = compiled.binds[name].type.dialect_impl(dialect).bind_processor(dialect)
        parameters.append((name, constants[name], convert))
    columns = tuple(statement.selected_columns) if isinstance(statement, Select) else ()
    converters = [
        (position, convert)
        for position, column in enumerate(columns)
        if (convert := _result_converter(column.type, dialect)) is not None
    ]
    return _Prepared(
        dialect, compiled.string, parameters, converters, result_tuple([str(column.key) for column in columns])
    )


def _result_converter(kind: TypeEngine[Any], dialect: Dialect) -> Converter | None:
    return kind.dialect_impl(dialect).result_processor(dialect, None)
