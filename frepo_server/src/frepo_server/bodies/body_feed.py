"""Hands a body to the application while it arrives, in workers and in bounded memory."""

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from ..application import BodySink

# At most this much of a body is queued, in bytes, and what was received with one call in addition.
QUEUED_BYTES = 512 << 10
# If all bodies together have more queued, one that has any is not read further: many slow sinks must not take the
# process's memory.
QUEUED_OF_ALL = 64 << 20
PIECE = 256 << 10


class BodyFeed:
    """Queues the pieces of one body between the thread that reads connections and the application's sink.

    `start` is the file with what arrived before the application decided, `length` its size in bytes. `delete_start` is
    called when it was handed over.
    """

    _of_all = 0
    _counting = threading.Lock()  # the counts of all feeds, which several threads change

    def __init__(self, sink: BodySink, start: Any, length: int, delete_start: Callable[[], None]) -> None:
        self._sink = sink
        self._start, self._delete_start = start, delete_start
        self._pieces: deque[bytes] = deque()
        self._queued = 0
        self._is_refused = self.has_worker = False
        self._busy = threading.Lock()  # held while the sink works
        self.length = length
        self._count(length)

    def append(self, data: bytes | memoryview) -> None:
        """Queue a piece. It is discarded if the application has refused the body."""
        self.length += len(data)
        if not self._is_refused:
            self._count(len(data))
            self._pieces.append(bytes(data))

    @property
    def is_full(self) -> bool:
        """Whether no more may be read before the sink has taken something."""
        return self._queued >= QUEUED_BYTES or (self._queued > 0 and BodyFeed._of_all >= QUEUED_OF_ALL)

    def needs_worker(self) -> bool:
        """Return whether a worker has to call `hand_over`, then `release_worker`: there are pieces, and none does."""
        with self._counting:
            if not self._queued or self.has_worker:
                return False
            self.has_worker = True
            return True

    def release_worker(self) -> bool:
        """Note that a worker has handed over pieces. Return whether it has to do it again: others came since."""
        with self._counting:
            self.has_worker = self._queued > 0
            return self.has_worker

    def hand_over(self) -> bool:
        """Hand over the pieces that are queued now. Return False if the application has refused the body."""
        with self._busy:
            return self._hand_over()

    def end(self, seconds: float = -1) -> None:
        """Hand over what is queued, and say that nothing follows. Do nothing if the sink works for `seconds` more."""
        if self._busy.acquire(timeout=seconds):
            try:
                self._hand_over()
                self._sink.close()
            finally:
                self._busy.release()

    def _hand_over(self) -> bool:
        try:
            if self._start is not None:
                start, self._start = self._start, None
                while piece := start.read(PIECE):
                    self._write(piece)
                self._delete_start()
            for _ in range(len(self._pieces)):
                self._write(self._pieces.popleft())
        except Exception as error:  # noqa: BLE001  # the application answers it
            self._is_refused = True
            self._sink.fail(error)
        return not self._is_refused

    def _write(self, piece: bytes) -> None:
        try:
            if not self._is_refused and not self._sink.write(piece):
                self._is_refused = True
        finally:
            self._count(-len(piece))

    def _count(self, size: int) -> None:
        with self._counting:
            self._queued += size
            BodyFeed._of_all += size
