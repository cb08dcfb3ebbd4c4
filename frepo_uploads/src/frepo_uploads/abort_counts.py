"""Counts uploads in parts that their clients end, so that one event a minute is about all of them."""

import threading
from collections import OrderedDict
from datetime import datetime, timedelta

INTERVAL = timedelta(minutes=1)
# The count of a forgotten one is lost.
MAX_COUNTED = 10_000


class AbortCounts:
    """Says when an event is due. A key is a token and its collection."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: OrderedDict[tuple[str, str | None], tuple[datetime, int]] = OrderedDict()

    def take(self, key: tuple[str, str | None], moment: datetime) -> int:
        """Count one. Return how many the event is about that is due now, 0 if the last one is too recent."""
        with self._lock:
            last, count = self._entries.pop(key, (None, 0))
            is_due = last is None or moment - last >= INTERVAL
            self._entries[key] = (moment, 0) if last is None or is_due else (last, count + 1)
            if len(self._entries) > MAX_COUNTED:
                self._entries.popitem(last=False)
        return count + 1 if is_due else 0
