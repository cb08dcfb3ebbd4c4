"""Works on content while it arrives: a file is followed as it grows, in the threads of a pool."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

BATCH = 8 << 20
TURN = 64 << 20
BLOCK = 256 << 10


class BackgroundHasher:
    """Gives a growing file to `take`, in order and a turn at a time, so that many can share the pool.

    All blocks have the size BLOCK, the last one excepted; what `take` keeps of one, each body that arrives keeps.
    """

    def __init__(self, descriptor: int, workers: ThreadPoolExecutor, take: Callable[[bytes], object]) -> None:
        self._descriptor = descriptor
        self._workers = workers
        self._take = take
        self._taken = 0
        self._written = 0
        self._turn: Future[None] | None = None
        self._lock = threading.Lock()
        self._stopped = False

    def advance(self, written: int) -> None:
        """Say how far the file is written; a turn begins when that is far enough."""
        with self._lock:
            self._written = written
            if self._turn is None and not self._stopped and written - self._taken >= BATCH:
                self._turn = self._workers.submit(self._hash_batch)

    def finish(self, written: int) -> None:
        """Take the rest, here."""
        self.stop()
        self._hash_until(written)

    def stop(self) -> None:
        """Let no further turn begin, and wait for the one that runs."""
        with self._lock:
            self._stopped = True
            turn = self._turn
        if turn is not None and not turn.cancel():
            wait([turn])

    def _hash_batch(self) -> None:
        """Take what is there, but not for long: the next turn queues behind those of other bodies."""
        end = min(self._written, self._taken + TURN)
        self._hash_until(end - end % BLOCK)
        with self._lock:
            more = not self._stopped and self._written - self._taken >= BATCH
            self._turn = self._workers.submit(self._hash_batch) if more else None

    def _hash_until(self, end: int) -> None:
        while self._taken < end and (block := os.pread(self._descriptor, min(BLOCK, end - self._taken), self._taken)):
            self._take(block)
            self._taken += len(block)
