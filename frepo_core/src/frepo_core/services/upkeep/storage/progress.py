"""Batches and progress reports for long work."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Protocol, TypeVar

from sqlalchemy import ColumnElement, func, select

from frepo_core.db import Database
from frepo_core.db.models import Blob

Item = TypeVar("Item")


class Progress(Protocol):
    """A function that is called after each step."""

    def __call__(self, *, done: int, total: int, size: int) -> None:
        """Report that `done` of `total` blobs are finished and that the last one had `size` bytes. Total 0: unknown."""


def no_progress(*, done: int, total: int, size: int) -> None:
    """Do nothing."""


def count_blobs(database: Database, *conditions: ColumnElement[bool]) -> int:
    """Return the number of blob rows that meet the conditions."""
    with database.reading() as session:
        return session.scalar(select(func.count()).select_from(Blob).where(*conditions)) or 0


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Split items, of which there may be any number, into lists of at most `size`."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
