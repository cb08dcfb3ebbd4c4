"""Bounds what a check may cost: the bytes that a content unpacks to, the time, and the processor's time."""

import time
from collections.abc import Callable

from frepo_core.plugins import readable_size

from .outcomes import BoundReached, OutOfTime

# Small contents may unpack to this much whatever the ratio is: zeros compress ten thousand times.
FREE = 64 << 20


class Budget:
    """Counts unpacked bytes for one content of `size` bytes.

    `max_output` bounds their number and `max_ratio` how many there may be for each byte of the content. `deadline`, a
    time of `time.monotonic`, bounds the time, and `processor_seconds` the processor's time of this thread, which makes
    the budget; None stands for no bound. `tick` is called often; what it raises ends the check. `waited` returns the
    seconds that do not count until the deadline.
    """

    def __init__(
        self,
        size: int,
        *,
        max_output: int,
        max_ratio: float,
        deadline: float | None = None,
        processor_seconds: float | None = None,
        tick: Callable[[], object] = lambda: None,
        waited: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._max_output = max_output
        self._max_ratio = max_ratio
        self._by_ratio = max(FREE, int(size * max_ratio))
        self._deadline = deadline
        self._processor_end = None if processor_seconds is None else time.thread_time() + processor_seconds
        self._tick = tick
        self._waited = waited
        self.output = 0

    def spend(self, unpacked: int = 0) -> None:
        """Count unpacked bytes. Raises `BoundReached` or `OutOfTime`. Call it often: each call looks at the clocks."""
        self.output += unpacked
        if self.output > self._max_output:
            raise BoundReached(
                f"The content unpacks to more than {readable_size(self._max_output)}, see integrity.max_output"
            )
        if self.output > self._by_ratio:
            raise BoundReached(
                f"The content unpacks to more than {self._max_ratio:g} times its size, see integrity.max_ratio"
            )
        if self._deadline is not None and time.monotonic() - self._waited() > self._deadline:
            raise OutOfTime()
        if self._processor_end is not None and time.thread_time() > self._processor_end:
            raise OutOfTime()
        self._tick()
