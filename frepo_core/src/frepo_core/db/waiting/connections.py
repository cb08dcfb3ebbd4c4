"""Connections of the drivers whose waits are watched."""

import math
from collections.abc import Callable
from typing import Any

from sqlalchemy import Engine, event

from .patience import current_patience
from .timeouts import Timeouts
from .watch import Watch

CONNECT_SECONDS = 10
# Of a request: another connection or another request may be answered meanwhile. libpq takes at least 2 seconds.
REQUEST_CONNECT_SECONDS = 2


def watch_connections(engine: Engine, watch: Watch, timeouts: Timeouts, *, is_probe: bool = False) -> None:
    """Let an engine make connections whose waits are watched, and with a time limit for connecting.

    Except as a probe, a request does not connect while the database hangs.
    """
    connect = _psycopg(watch) if engine.dialect.name == "postgresql" else _pymysql(watch, timeouts)

    @event.listens_for(engine, "do_connect")
    def do_connect(dialect: Any, record: Any, arguments: Any, options: dict[str, Any]) -> Any:
        patience = current_patience()
        limit = CONNECT_SECONDS if patience is None else REQUEST_CONNECT_SECONDS
        if patience is not None and not is_probe and (watch.hangs or patience.ends_after(0)):
            raise dialect.loaded_dbapi.OperationalError("The database does not answer")
        limit = min(limit, math.ceil(float(options.get("connect_timeout") or limit)))
        wait = watch.begin(None)
        try:
            return connect(*arguments, **options | {"connect_timeout": limit})
        finally:
            watch.end(wait)


def _psycopg(watch: Watch) -> Callable[..., Any]:
    import psycopg  # only the driver that is used need be installed

    class WatchedConnection(psycopg.Connection[Any]):
        def wait(self, *arguments: Any, **options: Any) -> Any:
            wait = watch.begin(self.pgconn.socket)
            try:
                return super().wait(*arguments, **options)
            finally:
                watch.end(wait)

    return WatchedConnection.connect


def _pymysql(watch: Watch, timeouts: Timeouts) -> Callable[..., Any]:
    import pymysql

    def watched(name: str) -> Any:
        method = getattr(pymysql.connections.Connection, name)

        def call(self: Any, *arguments: Any, **options: Any) -> Any:
            wait = watch.begin(self._sock.fileno()) if self._sock else None
            try:
                return method(self, *arguments, **options)
            finally:
                watch.end(wait)

        return call

    class WatchedConnection(pymysql.connections.Connection):
        _read_timeout: float | None
        _sock: Any

        query, begin, commit, rollback, ping, autocommit = map(
            watched, ("query", "begin", "commit", "rollback", "ping", "autocommit")
        )

        def connect(self, sock: Any = None) -> None:
            """Connect; the server's greeting has the time limit of the connection, too."""
            before, self._read_timeout = self._read_timeout, self.connect_timeout
            try:
                super().connect(sock)
            finally:
                self._read_timeout = before
            timeouts.apply(self._sock)

    return WatchedConnection
