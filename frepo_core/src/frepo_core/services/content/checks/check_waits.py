"""Bounds how many requests wait long for upload checks: each of them keeps a thread of the service."""

import contextlib
import threading
from collections.abc import Iterator

MAX_PATIENT = 4
SHORT_SECONDS = 1.0


class CheckWaits:
    """Says how long a request may wait for a check, with all checks of a process together."""

    def __init__(self) -> None:
        self._waiting = 0
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def limit(self, seconds: float) -> Iterator[float]:
        """Yield these seconds, or at most one if four requests wait already. The body waits no longer than that."""
        with self._lock:
            is_patient = self._waiting < MAX_PATIENT
            self._waiting += is_patient
        try:
            yield seconds if is_patient else min(seconds, SHORT_SECONDS)
        finally:
            with self._lock:
                self._waiting -= is_patient
