"""The memory for decoding uploads: small windows share it, and one large window at a time has a place of its own."""

import contextlib
import ctypes
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator

from frepo_core.domain.structs import struct
from frepo_core.errors import ReadersBusyError

# What RFC 9659 asks of a content coding; a larger window, up to LARGEST_WINDOW, waits for the one slot.
SMALL_WINDOW = 8 << 20
# `zstd --long` and `--ultra` need it.
LARGEST_WINDOW = 128 << 20
# What small windows take together, in bytes. With the large one, that is 162 MiB.
SHARED = 32 << 20
# What a decoder takes next to its window: a piece of what is sent, and one of what it contains.
PIECES = 2 << 20
# mallopt(3): larger blocks go back to the system when they are freed. Otherwise each thread's heap keeps some windows.
_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
LARGE_BLOCK = 2 << 20
_BUSY = "The service decodes as many compressed uploads as its memory allows: try again later"
# How often one that waits asks whether its client is still there, in seconds.
ASK_SECONDS = 0.5


@struct
class DecoderWait:
    """How long a decoder waits, in seconds, and what is asked meanwhile.

    It waits only if fewer than `most` others do. `begin` is called before that, and returns False if it must not wait.
    `is_wanted` returns False once nobody wants the content any more. With `while_moving`, the seconds begin again
    whenever one that has its turn goes on.
    """

    seconds: float
    most: int = sys.maxsize
    begin: Callable[[], bool] = lambda: True
    is_wanted: Callable[[], bool] = lambda: True
    while_moving: bool = False


# Asks once.
NO_WAIT = DecoderWait(seconds=0)


class DecoderMemory:
    """The memory that all decoders of uploads in a process share."""

    def __init__(self, shared: int = SHARED) -> None:
        _return_large_blocks()
        self._small, self._large = Line(shared, _BUSY), Line(1, _BUSY)

    @contextlib.contextmanager
    def taken(self, window: int, wait: DecoderWait) -> Iterator[None]:
        """Take the memory for a window of this size in bytes while the body runs.

        Those who wait are served in their order. Raises `ReadersBusyError` if that takes too long.
        """
        line, share = (self._small, window + PIECES) if window <= SMALL_WINDOW else (self._large, 1)
        line.take(share, wait)
        try:
            yield
        finally:
            line.give_back(share)


class Line:
    """An amount that is handed out in the order of those who ask."""

    def __init__(self, amount: int, busy: str) -> None:
        """`busy` is what those are told for whom it takes too long."""
        self._amount = self._free = amount
        self._busy = busy
        self._moves = 0
        self._waiting: deque[object] = deque()
        self._changed = threading.Condition()

    @property
    def is_used(self) -> bool:
        """Whether anybody has a share, or waits for one."""
        return self._free < self._amount or bool(self._waiting)

    def move(self) -> None:
        """Say that one who has a share goes on: those who wait stay."""
        self._moves += 1

    def take(self, share: int, wait: DecoderWait) -> None:
        """Take a share. Raises `ReadersBusyError` if that takes too long."""
        ticket = object()
        with self._changed:
            self._waiting.append(ticket)
            try:
                if not self._is_next(ticket, share):
                    self._wait(ticket, share, wait)
                self._free -= share
            finally:
                self._waiting.remove(ticket)
                self._changed.notify_all()

    def give_back(self, share: int) -> None:
        """Let the next ones take it."""
        with self._changed:
            self._free += share
            self._moves += 1
            self._changed.notify_all()

    def _wait(self, ticket: object, share: int, wait: DecoderWait) -> None:
        left, moves = wait.seconds if len(self._waiting) <= wait.most and wait.begin() else 0.0, self._moves
        while left > 0 and wait.is_wanted():
            if self._changed.wait_for(lambda: self._is_next(ticket, share), min(left, ASK_SECONDS)):
                return
            is_longer = wait.while_moving and moves != self._moves
            left, moves = wait.seconds if is_longer else left - ASK_SECONDS, self._moves
        raise ReadersBusyError(self._busy)

    def _is_next(self, ticket: object, share: int) -> bool:
        return self._waiting[0] is ticket and self._free >= share


def _return_large_blocks() -> None:
    """Let the C library return large blocks to the system. Only that of GNU needs to be told."""
    with contextlib.suppress(AttributeError, OSError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, LARGE_BLOCK)
        mallopt(_TRIM_THRESHOLD, 2 * LARGE_BLOCK)
