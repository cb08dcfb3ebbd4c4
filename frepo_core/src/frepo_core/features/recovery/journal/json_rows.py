"""Rows of tables as JSON objects and back, by the names of their columns. Null values are left out."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Column, FromClause, Table

from frepo_core.db.types import UtcDateTime

Values = dict[str, Any]


def names_of(source: FromClause | Sequence[Column[Any]]) -> tuple[str, ...]:
    """Return the names of the columns."""
    columns: Iterable[Any] = source.columns if isinstance(source, FromClause) else source
    return tuple(column.name for column in columns)


def to_values(names: Sequence[str], row: Sequence[Any]) -> Values:
    """Return the columns of a row that are not null."""
    return {name: value for name, value in zip(names, row, strict=True) if value is not None}


def dump(value: Any) -> str:
    """Return one line of JSON. Times are in UTC, as in 2026-05-01T02:15:00.123456Z."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_time)


def to_row(table: Table, values: Mapping[str, Any]) -> Values:
    """Return all columns of a row. One that an older version did not know gets its default.

    Raises `ValueError` if a column without a default is missing, or if a time cannot be read.
    """
    return {column.name: _from_json(column, values.get(column.name)) for column in table.columns}


def _time(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    raise TypeError(f"{value!r} has no form in JSON")


def _from_json(column: Column[Any], value: Any) -> Any:
    if value is None:
        return None if column.nullable else _default(column)
    return datetime.fromisoformat(value) if isinstance(column.type, UtcDateTime) else value


def _default(column: Column[Any]) -> Any:
    default: Any = column.server_default
    if default is None:
        raise ValueError(f"{column.table.name}.{column.name} is missing")
    text = str(default.arg).strip("'")
    return column.type.python_type(int(text)) if text.lstrip("-").isdecimal() else text
