"""Limits how many bytes a second a job reads, so that requests keep the rest of the disk and of the network."""

import time
from collections.abc import Callable

CHECK_SECONDS = 1.0


class RateLimit:
    """Called with the number of bytes that were read; sleeps until the average is below the rate.

    Also calls `keep_going` about once a second, which ends the work by an exception. A pause of the source
    earns no credit.
    """

    def __init__(
        self,
        rate: int,
        *,
        keep_going: Callable[[], None],
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`rate` is in bytes a second; 0: no limit."""
        self._rate = rate
        self._keep_going = keep_going
        self._sleep = sleep
        self._monotonic = monotonic
        self._free_at = monotonic()
        self._checked_at = self._free_at

    def __call__(self, size: int) -> None:
        """Wait until `size` bytes more may be read."""
        now = self._monotonic()
        if self._rate:
            self._free_at = max(self._free_at, now) + size / self._rate
        self._check_if_due(now)
        while self._rate and (left := self._free_at - self._monotonic()) > 0:
            self._sleep(min(left, CHECK_SECONDS))
            self._check_if_due(self._monotonic())

    def _check_if_due(self, now: float) -> None:
        if now - self._checked_at >= CHECK_SECONDS:
            self._checked_at = now
            self._keep_going()
