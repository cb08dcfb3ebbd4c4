"""Caches rows of SQLite until the next commit."""

import os
import sqlite3
import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias

from sqlalchemy import Engine, Row, event

from .data_version import DataVersion, connect

Rows: TypeAlias = Sequence[Row[Any]]
Version: TypeAlias = tuple[int, int]

MAX_ENTRIES = 4_000


class RowCache:
    """Caches the rows of queries on one SQLite database.

    The data version changes after each commit by another connection or process, so it is read on a separate connection
    that does nothing else. That takes a fiftieth of the time of a query.
    """

    def __init__(self, engine: Engine) -> None:
        path = engine.url.database or ""
        self._path = path if path.startswith("file:") else os.path.abspath(path)
        self._lock = threading.Lock()
        self._connection: DataVersion | None = None
        self._opened = 0
        self._cached: tuple[Version, dict[Hashable, Rows]] = ((0, 0), {})
        # The pool closes its connections when the engine is disposed of. A listener to the engine's own event for that
        # would make each statement slower.
        event.listen(engine, "close", self._close)

    def find(self, key: Hashable, query: Callable[[], Rows]) -> Rows:
        """Return the cached rows for this key, or those that `query` returns now."""
        version = self.version()
        if version is None:
            return query()
        cached = self._cached
        if cached[0] != version or len(cached[1]) >= MAX_ENTRIES:
            cached = self._cached = (version, {})
        rows = cached[1].get(key)
        if rows is None:
            # The version was read before this query. If a commit happened in between, the next call sees another
            # version and does not use these rows.
            rows = query()
            if rows:  # do not cache misses: clients could fill the memory with random names
                cached[1][key] = rows
        return rows

    def version(self) -> Version | None:
        """Return the data version and the number of the connection that reported it.

        Returns None if the version cannot be read without waiting, for example while the database is locked.
        """
        try:
            with self._lock:
                if self._connection is None:
                    self._connection = connect(self._path)
                    self._opened += 1
                return self._opened, self._connection.read()
        except sqlite3.Error:
            return None

    def _close(self, connection: Any, record: Any) -> None:
        """Close the connection when the engine closes one of its own; the next call opens another."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None
