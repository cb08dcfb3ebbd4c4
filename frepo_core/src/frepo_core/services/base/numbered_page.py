"""Numbered pages of the first API's listings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Row = TypeVar("Row")

# How many rows are counted after a page.
COUNT_AHEAD = 4_000


@dataclass(frozen=True, kw_only=True)
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
