"""A pool of open connections, as logging in takes longer than most calls."""

import ftplib
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .connection import Connection


class Pool:
    """Gives connections to threads, each to one thread at a time.

    At most `size` idle connections are kept. The number of connections in use is not limited: a slow client keeps one
    until its download ends, and must not block others.
    """

    def __init__(self, connect: Callable[[], Connection], size: int) -> None:
        self._connect = connect
        self._size = size
        self._idle: list[Connection] = []
        self._lock = threading.Lock()
        weakref.finalize(self, _close_all, self._idle)

    def take(self) -> Connection:
        """Return a usable connection. Raises the exceptions of `connect`."""
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            if connection.is_usable():
                return connection
            connection.close()
            self._close_idle()  # usually the same event has ended the others
        return self._connect()

    def give_back(self, connection: Connection) -> None:
        """Return a connection that is ready for a command. It is closed if the pool is full."""
        with self._lock:
            if len(self._idle) < self._size:
                self._idle.append(connection)
                return
        connection.close()

    @contextmanager
    def lease(self) -> Iterator[Connection]:
        """Yield a connection for some commands, then return it to the pool."""
        connection = self.take()
        with self.guard(connection):
            yield connection
        self.give_back(connection)

    @contextmanager
    def guard(self, connection: Connection) -> Iterator[None]:
        """Return the connection to the pool after a refused command (5xx), and close it after any other error."""
        try:
            yield
        except ftplib.error_perm:
            self.give_back(connection)
            raise
        except BaseException:
            connection.close()
            raise

    def _close_idle(self) -> None:
        with self._lock:
            idle = self._idle[:]
            self._idle.clear()
        _close_all(idle)


def _close_all(connections: list[Connection]) -> None:
    for connection in connections:
        connection.close()
