"""Progress reports for long work."""

from typing import Protocol

from sqlalchemy import ColumnElement, func, select

from frepo_core.db import Database
from frepo_core.db.models import StoredObject


class Progress(Protocol):
    """A function that is called after each step."""

    def __call__(self, *, done: int, total: int, size: int) -> None:
        """Report that `done` of `total` blobs are finished and that the last one had `size` bytes. Total 0: unknown."""


def no_progress(*, done: int, total: int, size: int) -> None:
    """Do nothing."""


def count_objects(database: Database, *conditions: ColumnElement[bool]) -> int:
    """Return the number of objects that meet the conditions."""
    with database.reading() as session:
        return session.scalar(select(func.count(StoredObject.id)).where(*conditions)) or 0
