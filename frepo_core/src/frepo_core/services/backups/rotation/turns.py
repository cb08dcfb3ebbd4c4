"""Turns: the uploads of one process to one collection do not outdate each other's decisions."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

TURN_SECONDS = 2.0


class Turns:
    """A lock for each collection in use. It saves work and protects nothing: after a while, nobody waits for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._locks: dict[str, tuple[threading.Lock, int]] = {}

    @contextmanager
    def take(self, collection_id: str) -> Iterator[None]:
        """Wait for the turn, at most for some seconds."""
        with self._lock:
            lock, users = self._locks.get(collection_id, (threading.Lock(), 0))
            self._locks[collection_id] = lock, users + 1
        has_turn = lock.acquire(timeout=TURN_SECONDS)
        try:
            yield
        finally:
            if has_turn:
                lock.release()
            with self._lock:
                lock, users = self._locks.pop(collection_id)
                if users > 1:
                    self._locks[collection_id] = lock, users - 1
