"""Remembers what SQLite was asked, for as long as it says that nothing was committed since."""

import sqlite3
import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias

from sqlalchemy import Engine, Row, create_engine, event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

Rows: TypeAlias = Sequence[Row[Any]]
Version: TypeAlias = tuple[int, int]

MOST = 4_000


class RowCache:
    """Rows of a few queries of one SQLite database.

    `PRAGMA data_version` takes a fiftieth of a query's time. It is another number after each commit of another
    connection, be it another process's: so it is asked on a connection that does nothing else.
    """

    def __init__(self, engine: Engine) -> None:
        # Not of the pool, where all may be taken, and waiting for nobody.
        options = {"timeout": 0, "check_same_thread": False}
        self._engine = create_engine(engine.url, poolclass=NullPool, connect_args=options)
        self._asking = threading.Lock()
        self._connection: Any = None
        self._opened = 0
        self._kept: tuple[Version, dict[Hashable, Rows]] = ((0, 0), {})
        event.listen(engine, "engine_disposed", self._close)

    def find(self, key: Hashable, ask: Callable[[], Rows]) -> Rows:
        """Return what `ask` gave for this key, where that is still true, else what it gives now."""
        version = self._version()
        if version is None:
            return ask()
        kept = self._kept
        if kept[0] != version or len(kept[1]) >= MOST:
            kept = self._kept = (version, {})
        rows = kept[1].get(key)
        if rows is None:
            # Asked after the number was. Where a commit came between, that is another by now, and this never found.
            rows = ask()
            if rows:  # what is not there may have names of any number and length
                kept[1][key] = rows
        return rows

    def _version(self) -> Version | None:
        """Return which connection says which number, or None where none says it at once, as while all is locked."""
        try:
            with self._asking:
                if self._connection is None:
                    self._connection = self._engine.raw_connection()
                    self._opened += 1
                number = self._connection.execute("PRAGMA data_version").fetchall()[0][0]
                return self._opened, number
        except (sqlite3.Error, SQLAlchemyError):
            return None

    def _close(self, engine: Engine) -> None:
        """Leave no connection behind where the engine leaves none."""
        with self._asking:
            if self._connection is not None:
                self._connection.close()
            self._connection = None
