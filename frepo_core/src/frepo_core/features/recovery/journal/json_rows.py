"""Rows of tables as JSON objects and back, by the names of their columns. Null values are left out."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Column, FromClause, Table

from frepo_core.db.types import JsonTexts

Values = dict[str, Any]
_ACCEPTED: Mapping[type, tuple[type, ...]] = {float: (int, float)}
_MOST = 1 << 63


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

    Raises `ValueError` if a column without a default is missing, or if a value is not of the column's type: SQLite
    would store a text in a column of numbers, and nobody could list the row. No number of ours is below 0.
    """
    return {column.name: _from_json(column, values.get(column.name)) for column in table.columns}


def check_values(source: FromClause, values: Mapping[str, Any]) -> None:
    """Raise `ValueError` if a value is not of its column's type. Those that have no column are passed over."""
    columns: Any = source.columns
    for name, value in values.items():
        if value is not None and name in columns:
            _from_json(columns[name], value)


def _time(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    raise TypeError(f"{value!r} has no form in JSON")


def _from_json(column: Column[Any], value: Any) -> Any:
    if value is None:
        return None if column.nullable else _default(column)
    wanted = column.type.python_type
    found = datetime.fromisoformat(value) if wanted is datetime and isinstance(value, str) else value
    if not _is_of(column, wanted, found):
        raise ValueError(f"{column.table.name}.{column.name} cannot be {value!r:.50}")
    return found


def _is_of(column: Column[Any], wanted: type, value: Any) -> bool:
    if isinstance(value, bool) or wanted is bool:
        return isinstance(value, wanted)
    if isinstance(column.type, JsonTexts):
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if wanted is int:
        return isinstance(value, int) and 0 <= value < _MOST
    return isinstance(value, _ACCEPTED.get(wanted, wanted))


def _default(column: Column[Any]) -> Any:
    default: Any = column.server_default
    if default is None:
        raise ValueError(f"{column.table.name}.{column.name} is missing")
    text = str(default.arg).strip("'")
    return column.type.python_type(int(text)) if text.lstrip("-").isdecimal() else text
