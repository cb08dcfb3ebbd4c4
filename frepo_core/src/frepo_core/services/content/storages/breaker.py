"""Skips a storage that failed several times in a row, so that not each request and each copy waits for it."""

import threading
import time
from collections.abc import Callable

FAILURES = 3
SECONDS = 30.0


class Breaker:
    """What this process knows about the last calls of each storage."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._failures: dict[str, int] = {}
        self._until: dict[str, float] = {}
        self._lock = threading.Lock()

    def skips(self, storage: str) -> bool:
        """Return whether the storage is skipped now: it failed three times, the last time within 30 seconds."""
        return self._monotonic() < self._until.get(storage, 0.0)

    def failed(self, storage: str) -> None:
        """Count a failure. After the 30 seconds, one further failure is enough."""
        with self._lock:
            self._failures[storage] = self._failures.get(storage, 0) + 1
            if self._failures[storage] >= FAILURES:
                self._until[storage] = self._monotonic() + SECONDS

    def worked(self, storage: str) -> None:
        """Forget the failures of the storage."""
        if storage in self._failures:
            with self._lock:
                self._failures.pop(storage, None)
                self._until.pop(storage, None)
