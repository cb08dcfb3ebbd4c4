"""SQL expressions that read and build JSON. Each database has its own functions for that."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import JSON, Boolean, ColumnElement, String, literal
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import FunctionElement


class _HasItem(FunctionElement[bool]):
    type = Boolean()
    inherit_cache = True
    name = "has_item"


class _JsonObject(FunctionElement[Any]):
    type = JSON()
    inherit_cache = True
    name = "json_object"


class _IsoText(FunctionElement[str]):
    type = String()
    inherit_cache = True
    name = "iso_text"


def has_item(column: Any, text: str) -> ColumnElement[bool]:
    """Return the condition that the list in a JSON column contains a text, case-sensitively. Null is an empty list."""
    return _HasItem(column, literal(text), literal(json.dumps(text)))


def json_object(values: Mapping[str, Any]) -> ColumnElement[Any]:
    """Return a JSON object of SQL expressions of texts, by name. The database's null is the null of JSON."""
    parts = [part for name, value in values.items() for part in (literal(name), value)]
    return _JsonObject(*parts)


def iso_text(column: Any) -> ColumnElement[str]:
    """Return the ISO 8601 text of a time in a column of `UtcDateTime`: `2026-11-22T20:13:33.000000+00:00`."""
    return _IsoText(column)


def _process(element: FunctionElement[Any], compiler: Any, options: dict[str, Any], *places: int) -> list[str]:
    clauses = list(element.clauses)
    return [compiler.process(clauses[place], **options) for place in places or range(len(clauses))]


@compiles(_HasItem)
def _has_item_sqlite(element: _HasItem, compiler: Any, **options: Any) -> str:
    column, text = _process(element, compiler, options, 0, 1)
    return f"EXISTS (SELECT 1 FROM json_each({column}) WHERE json_each.value = {text})"


@compiles(_HasItem, "postgresql")
def _has_item_postgresql(element: _HasItem, compiler: Any, **options: Any) -> str:
    # Few lists contain the text. It is found with the escapes of the stored ones, and only then is the list parsed.
    column, text, item = _process(element, compiler, options)
    parsed = f"CAST({column} AS jsonb) @> to_jsonb(CAST({text} AS text))"
    return f"CASE WHEN position({item} IN CAST({column} AS text)) > 0 THEN {parsed} ELSE false END"


@compiles(_HasItem, "mysql")
@compiles(_HasItem, "mariadb")
def _has_item_mysql(element: _HasItem, compiler: Any, **options: Any) -> str:
    # MariaDB compares texts as they are written, so this one must have the same escapes as the stored ones.
    column, item = _process(element, compiler, options, 0, 2)
    return f"JSON_CONTAINS({column}, {item})"


@compiles(_JsonObject)
def _json_object(element: _JsonObject, compiler: Any, **options: Any) -> str:
    return f"json_object({', '.join(_process(element, compiler, options))})"


@compiles(_JsonObject, "postgresql")
def _json_object_postgresql(element: _JsonObject, compiler: Any, **options: Any) -> str:
    parts = [f"CAST({part} AS text)" for part in _process(element, compiler, options)]
    return f"json_build_object({', '.join(parts)})"


@compiles(_IsoText)
def _iso_text_sqlite(element: _IsoText, compiler: Any, **options: Any) -> str:
    (column,) = _process(element, compiler, options)
    return f"(replace({column}, ' ', 'T') || '+00:00')"


@compiles(_IsoText, "postgresql")
def _iso_text_postgresql(element: _IsoText, compiler: Any, **options: Any) -> str:
    (column,) = _process(element, compiler, options)
    return f"""to_char({column}, 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')"""


@compiles(_IsoText, "mysql")
@compiles(_IsoText, "mariadb")
def _iso_text_mysql(element: _IsoText, compiler: Any, **options: Any) -> str:
    (column,) = _process(element, compiler, options)
    # The percent signs are doubled, because the driver formats the statement.
    return f"DATE_FORMAT({column}, '%%Y-%%m-%%dT%%H:%%i:%%s.%%f+00:00')"
