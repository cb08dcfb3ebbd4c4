"""How transactions of SQLite begin: the execution option `sqlite_begin` of connections and engines."""

import sqlite3
import time
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.engine.characteristics import ConnectionCharacteristic

from ..waiting.patience import counted

OPTION = "sqlite_begin"
# SQLite fails at once if a transaction that has read starts to write while another one writes. So writers take the lock
# at the start. A single query needs no BEGIN.
DEFAULT = "IMMEDIATE"
# How long a writer pauses before it tries to take the lock again: a twentieth of the time that it has waited, in
# seconds.
SHORTEST_PAUSE, LONGEST_PAUSE = 0.3e-3, 20e-3


class BeginningConnection(sqlite3.Connection):
    """A connection of the driver that knows how its next transaction begins: `IMMEDIATE`, `DEFERRED` or not at all."""

    begin_mode = DEFAULT


class _BeginMode(ConnectionCharacteristic):
    """Sets the mode for as long as a connection is out of the pool."""

    def set_characteristic(self, dialect: Any, dbapi_conn: Any, value: Any) -> None:
        dbapi_conn.begin_mode = value

    def reset_characteristic(self, dialect: Any, dbapi_conn: Any) -> None:
        dbapi_conn.begin_mode = DEFAULT

    def get_characteristic(self, dialect: Any, dbapi_conn: Any) -> Any:
        return dbapi_conn.begin_mode


def _begin(connection: Any) -> None:
    if connection.begin_mode == DEFAULT:
        _begin_immediate(connection)
    elif connection.begin_mode:
        connection.execute(f"BEGIN {connection.begin_mode}")


def _begin_immediate(connection: sqlite3.Connection) -> None:
    """Begin a transaction that writes, within the connection's busy timeout.

    Another process holds the lock for a millisecond or two. SQLite's own pauses are up to 100 ms long, and meanwhile
    the other process may take the lock again and again.
    """
    ((timeout,),) = connection.execute("PRAGMA busy_timeout")
    connection.execute("PRAGMA busy_timeout=0")
    try:
        with counted() as patience:
            started, most = time.monotonic(), min(patience, timeout / 1000)
            while not _try_to_begin(connection, is_last=(waited := time.monotonic() - started) >= most):
                time.sleep(min(max(waited / 20, SHORTEST_PAUSE), LONGEST_PAUSE))
    finally:
        connection.execute(f"PRAGMA busy_timeout={timeout}")


def _try_to_begin(connection: sqlite3.Connection, *, is_last: bool) -> bool:
    """Return whether the connection has the lock. The last try raises `OperationalError` if it has not."""
    try:
        connection.execute(f"BEGIN {DEFAULT}")
    except sqlite3.OperationalError as error:
        if is_last or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:  # the other bits tell its kind
            raise
        return False
    return True


def add_begin_mode(engine: Engine) -> None:
    """Add the option to an engine whose driver makes `BeginningConnection`s.

    This is done in the dialect, because a listener to an engine's events makes each statement slower.
    """
    dialect: Any = engine.dialect
    dialect.do_begin = _begin
    dialect.connection_characteristics = dialect.connection_characteristics.union({OPTION: _BeginMode()})
