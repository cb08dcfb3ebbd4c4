"""A few connections kept open between calls, as logging in costs more than most calls."""

import ftplib
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .connection import Connection


class Pool:
    """Hands out connections to threads, each to one at a time.

    At most `size` idle ones are kept. There is no limit to those in use: a reader holds one as long as its
    client is slow, and must not keep others from working.
    """

    def __init__(self, connect: Callable[[], Connection], size: int) -> None:
        self._connect = connect
        self._size = size
        self._idle: list[Connection] = []
        self._lock = threading.Lock()
        weakref.finalize(self, _close_all, self._idle)

    def take(self) -> Connection:
        """Return a connection that works; raises what connecting raises."""
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            if connection.is_usable():
                return connection
            connection.close()
            self._forget_idle()  # what ended this one has ended the others, mostly
        return self._connect()

    def give_back(self, connection: Connection) -> None:
        """Keep a connection that waits for a command, or close it where enough are kept."""
        with self._lock:
            if len(self._idle) < self._size:
                self._idle.append(connection)
                return
        connection.close()

    @contextmanager
    def lease(self) -> Iterator[Connection]:
        """Lend a connection for some commands and take it back."""
        connection = self.take()
        with self.guard(connection):
            yield connection
        self.give_back(connection)

    @contextmanager
    def guard(self, connection: Connection) -> Iterator[None]:
        """Keep a connection on which a command was refused (5xx): it waits for the next one. Any other error drops it."""
        try:
            yield
        except ftplib.error_perm:
            self.give_back(connection)
            raise
        except BaseException:
            connection.close()
            raise

    def _forget_idle(self) -> None:
        with self._lock:
            forgotten = self._idle[:]
            self._idle.clear()
        _close_all(forgotten)


def _close_all(connections: list[Connection]) -> None:
    for connection in connections:
        connection.close()
