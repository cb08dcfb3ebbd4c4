"""SQL expressions that compare texts. Each database has its own functions for that."""

from collections.abc import Sequence
from typing import Any
from unicodedata import normalize

from sqlalchemy import ColumnElement, String, func, or_
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import FunctionElement


class _LowerAscii(FunctionElement[str]):
    type = String()
    inherit_cache = True
    name = "lower_ascii"


def contains(column: Any, text: str) -> ColumnElement[bool]:
    """Match a part of a text in any letter case and normal form. The column may have a trigram index."""
    lower = func.lower(column)
    return or_(*(_contains(column, form, lower) for form in _forms(text)))


def contains_unindexed(column: Any, text: str) -> ColumnElement[bool]:
    """Match the same in a column without an index, of which all rows are read."""
    lower = lower_ascii(column) if text.isascii() else func.lower(column)
    return or_(*(_contains(column, form, lower) for form in _forms(text)))


def _forms(text: str) -> Sequence[str]:
    """Return the normal forms of a text (UAX 15): macOS types names in NFD, and descriptions are stored as sent."""
    return sorted({normalize("NFC", text), normalize("NFD", text)})


def _contains(column: Any, text: str, lower: Any) -> ColumnElement[bool]:
    """Match a part of a text in any letter case; `%` and `_` are ordinary. `lower` is the column in lower case.

    SQLite ignores case for ASCII only, so other letters match as they are written.
    """
    in_any_case: ColumnElement[bool] = lower.contains(text.lower(), autoescape=True)
    return in_any_case if text.isascii() else or_(in_any_case, column.contains(text, autoescape=True))


def lower_ascii(column: Any) -> ColumnElement[str]:
    """Return the text with its ASCII letters in lower case; other letters may stay.

    PostgreSQL takes eight times as long with the rules of a language, which no index saves here.
    """
    return _LowerAscii(column)


@compiles(_LowerAscii)
def _lower(element: _LowerAscii, compiler: Any, **options: Any) -> str:
    return f"lower({compiler.process(*element.clauses, **options)})"


@compiles(_LowerAscii, "postgresql")
def _lower_postgresql(element: _LowerAscii, compiler: Any, **options: Any) -> str:
    return f'lower({compiler.process(*element.clauses, **options)} COLLATE "C")'
