"""Divides the room on the disk between the bodies that arrive at the same time."""

import threading
import weakref

from .spool import Spool

# A body is in memory up to this size at least: it can be asked about before it needs the disk.
MIN_STEP = 256 << 10
_PART = 4


class RoomShares:
    """Says up to which size each open body may arrive.

    A body gets a quarter of what no other one may still take, or a whole step where that is less: bodies that arrive
    together do not fill a disk that had room for the next step of each.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sizes: weakref.WeakKeyDictionary[Spool, int] = weakref.WeakKeyDictionary()

    def give(self, body: Spool, *, arrived: int, step: int, free: int) -> int:
        """Return up to how many bytes the body may arrive now, if `free` bytes may be taken by all."""
        with self._lock:
            taken = sum(other.still_takes(size) for other, size in self._sizes.items() if other is not body)
            size = arrived + max(min(step, (free - taken) // _PART), MIN_STEP)
            self._sizes[body] = size
            return size
