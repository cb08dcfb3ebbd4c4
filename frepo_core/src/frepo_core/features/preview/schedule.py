"""The imagined uploads of a preview: how often, how large, and how they grow."""

import itertools
import math
from collections.abc import Iterator
from datetime import datetime, timedelta

from frepo_core.domain.schedules.backup_deadlines import Expectation
from frepo_core.domain.sizes import MAX_SIZE, readable_size
from frepo_core.domain.structs import struct
from frepo_core.errors import FieldsError
from frepo_core.plugins import IncomingVersion

MAX_UPLOADS = 10_000
_MONTH = timedelta(days=365.25) / 12


@struct
class Schedule:
    """Uploads from `start` for `duration`, the first one of `size` bytes.

    Sizes grow by `growth` percent a month, compounded with each upload; a negative growth shrinks them.
    """

    every: Expectation
    start: datetime
    duration: timedelta
    size: int
    growth: float = 0.0

    def uploads(self) -> Iterator[IncomingVersion]:
        """Yield the uploads in the order of time. Raises `FieldsError` if they are too many or grow too large."""
        try:
            end = self.start + self.duration
            times = list(itertools.islice(self._times(end), MAX_UPLOADS + 1))
        except OverflowError:
            raise FieldsError({"schedule.duration": ["ends after the year 9999"]}) from None
        if len(times) > MAX_UPLOADS:
            raise FieldsError(
                {"schedule.duration": [f"has more than {MAX_UPLOADS} uploads: shorten it, or space them"]}
            )
        for time in times:
            yield IncomingVersion(size=self._size(time), created_at=time)

    def _times(self, end: datetime) -> Iterator[datetime]:
        return itertools.takewhile(lambda time: time < end, self.every.times(self.start))

    def _size(self, time: datetime) -> int:
        if not self.growth:
            return self.size  # exactly: a large one is not a float
        months: float = (time - self.start) / _MONTH
        try:
            grown = self.size * math.pow(1 + self.growth / 100, months)
        except OverflowError:
            raise _too_large(time) from None
        if grown > MAX_SIZE:
            raise _too_large(time)
        return round(grown)


def _too_large(time: datetime) -> FieldsError:
    return FieldsError(
        {"schedule.growth": [f"makes the upload of {time:%Y-%m-%d} larger than {readable_size(MAX_SIZE)}"]}
    )
