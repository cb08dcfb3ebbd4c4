"""The trash of a simulated collection: how many bytes it has at a time."""

from collections.abc import Iterable
from datetime import datetime
from heapq import heapify, heappop, heappush


class SimulatedTrash:
    """Sizes in bytes, each until its time is over (UTC)."""

    def __init__(self, entries: Iterable[tuple[datetime, int]] = ()) -> None:
        self._entries = list(entries)
        self._size = sum(size for _, size in self._entries)
        heapify(self._entries)

    def add(self, ends_at: datetime, size: int) -> None:
        """Add a version of `size` bytes."""
        heappush(self._entries, (ends_at, size))
        self._size += size

    def size(self, now: datetime) -> int:
        """Return the bytes that are in the trash at a time, which never goes back."""
        while self._entries and self._entries[0][0] <= now:
            self._size -= heappop(self._entries)[1]
        return self._size
