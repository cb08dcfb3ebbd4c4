"""Limits which part of a processor a job takes, so that requests keep the rest."""

import time
from collections.abc import Callable

STEP_SECONDS = 0.5


class ProcessorShare:
    """Called by work again and again; sleeps so that it takes at most a part of a processor.

    What was used since the last call is paid for at each call. A pause of the work earns no credit.
    """

    def __init__(
        self,
        share: float,
        *,
        used: Callable[[], float] = time.process_time,
        waiting: Callable[[], None] = lambda: None,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`used` returns seconds of processor time; `waiting` is called about twice a second while this sleeps."""
        self._share = share
        self._used = used
        self._waiting = waiting
        self._sleep = sleep
        self._monotonic = monotonic
        self.begin()

    def begin(self) -> None:
        """Count from now on."""
        self._began, self._seen = self._monotonic(), self._used()

    def __call__(self) -> None:
        """Wait until the work since the last call has taken long enough."""
        until = self._began + (self._used() - self._seen) / self._share
        while (left := until - self._monotonic()) > 0:
            self._sleep(min(left, STEP_SECONDS))
            self._waiting()
        self.begin()
