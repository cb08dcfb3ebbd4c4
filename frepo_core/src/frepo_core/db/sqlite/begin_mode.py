"""How transactions of SQLite begin: the execution option `sqlite_begin` of connections and engines."""

import sqlite3
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.engine.characteristics import ConnectionCharacteristic

OPTION = "sqlite_begin"
# SQLite fails at once if a transaction that has read starts to write while another one writes. So writers take the lock
# at the start. A single query needs no BEGIN.
DEFAULT = "IMMEDIATE"


class BeginningConnection(sqlite3.Connection):
    """A connection of the driver that knows how its next transaction begins: `IMMEDIATE`, `DEFERRED`, or without BEGIN."""

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
    if mode := connection.begin_mode:
        connection.execute(f"BEGIN {mode}")


def add_begin_mode(engine: Engine) -> None:
    """Add the option to an engine whose driver makes `BeginningConnection`s.

    This is done in the dialect, because a listener to an engine's events makes each statement slower.
    """
    dialect: Any = engine.dialect
    dialect.do_begin = _begin
    dialect.connection_characteristics = dialect.connection_characteristics.union({OPTION: _BeginMode()})
