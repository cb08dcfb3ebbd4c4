"""Hashes a file in the threads of a pool while it is still being written."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

MIN_BATCH = 8 << 20
MAX_BATCH = 64 << 20
BLOCK = 256 << 10


class BackgroundHasher:
    """Passes a growing file to `update`, in order and a batch at a time, so that many files can share the pool."""

    def __init__(self, descriptor: int, workers: ThreadPoolExecutor, update: Callable[[bytes], object]) -> None:
        self._descriptor = descriptor
        self._workers = workers
        self._update = update
        self._hashed = 0
        self._written = 0
        self._batch: Future[None] | None = None
        self._lock = threading.Lock()
        self._stopped = False

    def advance(self, written: int) -> None:
        """Report that the first `written` bytes are in the file. A batch starts once enough of them are not hashed."""
        with self._lock:
            self._written = written
            if self._batch is None and not self._stopped and written - self._hashed >= MIN_BATCH:
                self._batch = self._workers.submit(self._hash_batch)

    def finish(self, written: int) -> None:
        """Hash the rest in the caller's thread."""
        self.stop()
        self._hash_until(written)

    def stop(self) -> None:
        """Start no further batch, and wait for the one that is running."""
        with self._lock:
            self._stopped = True
            batch = self._batch
        if batch is not None and not batch.cancel():
            wait([batch])

    def _hash_batch(self) -> None:
        """Hash what is written, at most `MAX_BATCH` bytes, so that the batches of other files get their share."""
        end = min(self._written, self._hashed + MAX_BATCH)
        self._hash_until(end - end % BLOCK)
        with self._lock:
            more = not self._stopped and self._written - self._hashed >= MIN_BATCH
            self._batch = self._workers.submit(self._hash_batch) if more else None

    def _hash_until(self, end: int) -> None:
        while self._hashed < end and (
            block := os.pread(self._descriptor, min(BLOCK, end - self._hashed), self._hashed)
        ):
            self._update(block)
            self._hashed += len(block)
