"""An SQL expression to look for a text in a list that is stored as JSON. Each database has its own."""

import json
from typing import Any

from sqlalchemy import Boolean, ColumnElement, literal
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import FunctionElement


class _HasItem(FunctionElement[bool]):
    type = Boolean()
    inherit_cache = True
    name = "has_item"


def has_item(column: Any, text: str) -> ColumnElement[bool]:
    """Return the condition that the list in a JSON column contains a text, in the same letter case. Null contains none."""
    return _HasItem(column, literal(text), literal(json.dumps(text)))


def _process(element: _HasItem, compiler: Any, options: dict[str, Any], *places: int) -> list[str]:
    clauses = list(element.clauses)
    return [compiler.process(clauses[place], **options) for place in places]


@compiles(_HasItem)
def _sqlite(element: _HasItem, compiler: Any, **options: Any) -> str:
    column, text = _process(element, compiler, options, 0, 1)
    return f"EXISTS (SELECT 1 FROM json_each({column}) WHERE json_each.value = {text})"


@compiles(_HasItem, "postgresql")
def _postgresql(element: _HasItem, compiler: Any, **options: Any) -> str:
    column, text = _process(element, compiler, options, 0, 1)
    return f"(CAST({column} AS jsonb) @> to_jsonb(CAST({text} AS text)))"


@compiles(_HasItem, "mysql")
@compiles(_HasItem, "mariadb")
def _mysql(element: _HasItem, compiler: Any, **options: Any) -> str:
    # MariaDB compares texts as they are written, so this one must have the same escapes as the stored ones.
    column, item = _process(element, compiler, options, 0, 2)
    return f"JSON_CONTAINS({column}, {item})"
