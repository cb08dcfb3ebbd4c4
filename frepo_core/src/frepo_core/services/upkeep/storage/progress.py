"""Progress reports for long work."""

import time
from collections.abc import Callable
from typing import Protocol

from sqlalchemy import ColumnElement, func, select

from frepo_core.db import Database
from frepo_core.db.models import StoredObject
from frepo_core.domain.sizes import readable_size


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


SECONDS = 5.0


class ProgressNotes:
    """A progress function that passes on a text, at most every five seconds, and the first and last one."""

    def __init__(self, note: Callable[[str], None], monotonic: Callable[[], float] = time.monotonic) -> None:
        self._note = note
        self._monotonic = monotonic
        self._size = 0
        self._last: float | None = None

    def __call__(self, *, done: int, total: int, size: int) -> None:
        """Report that `done` of `total` blobs are finished and that the last one had `size` bytes."""
        self._size += size
        now = self._monotonic()
        if self._last is None or now - self._last >= SECONDS or done == total:
            self._last = now
            self._note(f"{done} of {total} blobs, {readable_size(self._size)}" if total else f"{done} blobs")
