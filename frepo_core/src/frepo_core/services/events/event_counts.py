"""Counts what happens often, so that one event a minute is about all of it."""

import threading
import time
from collections import OrderedDict
from datetime import timedelta

INTERVAL = timedelta(minutes=1)
# Each entry takes about 300 bytes. The count of a forgotten one is lost.
MAX_COUNTED = 10_000


class Counts:
    """Counts what has happened, and says for what an event is due. A key is a token, a collection and a reason."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: OrderedDict[tuple[str, str, str], tuple[float, int]] = OrderedDict()

    def take(self, key: tuple[str, str, str]) -> int:
        """Count one. Return how many the event is about that is due now, 0 if the last one is too recent."""
        now = time.monotonic()
        with self._lock:
            last, count = self._entries.pop(key, (now - INTERVAL.total_seconds(), 0))
            is_due = now - last >= INTERVAL.total_seconds()
            self._entries[key] = (now, 0) if is_due else (last, count + 1)
            if len(self._entries) > MAX_COUNTED:
                self._entries.popitem(last=False)
        return count + 1 if is_due else 0

    def put_back(self, key: tuple[str, str, str], count: int) -> None:
        """Add what was not recorded to the next event."""
        with self._lock:
            last, more = self._entries.get(key, (time.monotonic(), 0))
            self._entries[key] = (last, more + count)
