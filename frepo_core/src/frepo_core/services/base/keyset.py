"""Pages of long lists by keyset: a page begins after the last row of the one before, so each costs the same.

The order needs an index on the sorted column and the key.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, Select, and_, or_
from sqlalchemy.orm import InstrumentedAttribute

from frepo_core.db.types import UtcDateTime
from frepo_core.domain.structs import struct
from frepo_core.errors import FieldsError

Row = TypeVar("Row")
Column = InstrumentedAttribute[Any] | ColumnElement[Any]


@struct
class PageRequest:
    """Which page of a list: up to `limit` rows, ordered by the field `sort`, a name that the list defines.

    `after` is `Page.next` of the page before, or None for the first page. Its values are JSON: text, number or null.
    """

    limit: int = 50
    sort: str = ""
    is_descending: bool = False
    after: Sequence[Any] | None = None


@struct
class Page(Generic[Row]):
    """The rows of a page. `next` is `PageRequest.after` of the next page, None on the last one."""

    items: Sequence[Row]
    next: Sequence[Any] | None = None


def paged(query: "Select[Any]", page: PageRequest, columns: Sequence[Column]) -> "Select[Any]":
    """Return the query with the page's order and bounds, and one more row, which shows whether another page follows.

    `columns` are what the rows are ordered by, all in the same direction: the last one is unique, and none may be null.
    Raises `FieldsError` for an `after` that is not of this list.
    """
    if page.after is not None:
        query = query.where(_follows(columns, bound_values(columns, page.after), is_descending=page.is_descending))
    order = [column.desc() if page.is_descending else column.asc() for column in columns]
    return query.order_by(*order).limit(page.limit + 1)


def cut(rows: Sequence[Row], page: PageRequest, values: Any) -> Page[Row]:
    """Return the page of the rows that a query by `paged` found. `values(row)` are the row's values of its columns."""
    shown = rows[: page.limit]
    return Page(items=shown, next=[_plain(value) for value in values(shown[-1])] if len(rows) > len(shown) else None)


def _follows(columns: Sequence[Column], values: Sequence[Any], *, is_descending: bool) -> ColumnElement[bool]:
    """Return the condition for the rows after `values`. A comparison of tuples would not use the index on MariaDB."""
    (column, *more), (value, *others) = columns, values
    follows: ColumnElement[bool] = column < value if is_descending else column > value
    if not more:
        return follows
    # The first condition is a range of the index; the other one leaves out the rows before within it.
    in_range = column <= value if is_descending else column >= value
    return and_(in_range, or_(follows, _follows(more, others, is_descending=is_descending)))


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def bound_values(columns: Sequence[Column], after: Sequence[Any]) -> list[Any]:
    """Return the values of `PageRequest.after` for these columns. Raises `FieldsError` if they are not of this list."""
    try:
        pairs = zip(columns, after, strict=True)
        return [_typed(column, value) for column, value in pairs]
    except (ValueError, TypeError, OverflowError) as error:
        raise FieldsError(
            {"cursor": ["This is not the cursor of a page of this list: leave it out to begin"]}
        ) from error


def _typed(column: Column, value: Any) -> Any:
    """Return the value for the column. Raises `ValueError` or `TypeError` for a value of another type."""
    if isinstance(column.type, UtcDateTime):
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise ValueError("a time without a zone")
        return moment.astimezone(UTC)
    if isinstance(value, bool) or not isinstance(value, column.type.python_type):
        raise TypeError(f"{value!r} for {column}")
    if isinstance(value, int) and abs(value) > 2**63 - 1:
        raise ValueError("a number that no column holds")
    return value


# How many rows are counted after a page.
COUNT_AHEAD = 4_000


@struct
class NumberedPage(Generic[Row]):
    """The rows of one page. Pages are numbered from 1, and `last` is at least 1.

    Rows are counted up to 4,000 after the page. If there are more, `last` is the last page that is known to exist.
    """

    rows: Sequence[Row]
    number: int
    last: int
    size: int


def last_page(total: int, size: int) -> int:
    """Return the number of the last page of `total` rows."""
    return max(1, -(-total // size))


def offset(page: int, size: int) -> int:
    """Return how many rows are before a page."""
    return (page - 1) * size
