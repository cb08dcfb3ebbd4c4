"""How long work is cut into pieces, and tells what it has done."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Protocol, TypeVar

from sqlalchemy import ColumnElement, func, select

from frepo_core.db import Database
from frepo_core.db.models import Blob

Item = TypeVar("Item")


class Progress(Protocol):
    """Called after each step."""

    def __call__(self, *, done: int, total: int, size: int) -> None:
        """Say that `done` of `total` blobs were worked on, the last of `size` bytes; a total of 0 is not known."""


def no_progress(*, done: int, total: int, size: int) -> None:
    """Tell nobody."""


def count_blobs(database: Database, *conditions: ColumnElement[bool]) -> int:
    """Count the rows of blobs."""
    with database.reading() as session:
        return session.scalar(select(func.count()).select_from(Blob).where(*conditions)) or 0


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Cut what may be endless into lists of at most `size`."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
