"""A pool that gives writers the connection that wrote last.

A connection of SQLite caches pages, and drops all of them after a commit by another one. So a small upload reads 60 to
80 pages from the system if connections write in turns, and about ten if one writes.
"""

import threading
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool
from sqlalchemy.util.queue import Queue


class _CurrentThread(threading.local):
    is_writing = False


# Whether this thread may write: set by whoever holds the process's lock for writers.
CURRENT_THREAD = _CurrentThread()


class _TwoEnds(Queue[ConnectionPoolEntry]):
    """Writers use the right end, readers the left one. At both, what was returned last is taken first."""

    def _put(self, item: ConnectionPoolEntry) -> None:
        (self.queue.append if CURRENT_THREAD.is_writing else self.queue.appendleft)(item)

    def _get(self) -> ConnectionPoolEntry:
        return self.queue.pop() if CURRENT_THREAD.is_writing else self.queue.popleft()


class WriterPool(QueuePool):
    """A pool with two ends. A single connection serves readers and writers."""

    __module__ = QueuePool.__module__  # it logs where the pools of SQLAlchemy do
    _queue_class = _TwoEnds

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # Those that are kept for single queries, see `readers`.
        self.readers: list[Connection] = []

    def checkedout(self) -> int:
        """Return how many connections are in use."""
        return super().checkedout() - len(self.readers)

    def dispose(self) -> None:
        """Close all connections that are not in use."""
        while self.readers:
            self.readers.pop().close()
        super().dispose()
