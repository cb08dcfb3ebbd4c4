"""Warns of what may happen often, such as a full queue, without filling the log."""

import logging
import math
import time

WARN_EVERY = 60.0


class PeriodicWarning:
    """Logs a warning at most once a minute, with how often it was due since the last line.

    Its text names `%(about)s`, `%(count)d` and, of the numbers noted since the last line, `%(largest)d`.
    """

    def __init__(self, log: logging.Logger, text: str) -> None:
        self._log = log
        self._text = text
        self._last = -math.inf
        self._count = self._largest = 0

    def note(self, about: object, number: int = 0) -> None:
        """Count one occasion, and log it if the last line is old enough."""
        now = time.monotonic()
        self._count, self._largest = self._count + 1, max(self._largest, number)
        if now - self._last < WARN_EVERY:
            return
        self._log.warning(self._text, {"about": about, "count": self._count, "largest": self._largest})
        self._last, self._count, self._largest = now, 0, 0
