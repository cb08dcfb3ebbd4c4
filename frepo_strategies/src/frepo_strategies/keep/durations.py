"""Durations as restic writes them, such as `1y6m7d12h`, and the time that long before another one."""

import functools
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

_UNITS = {"y": "years", "m": "months", "d": "days", "h": "hours"}
_PART = re.compile(r"([0-9]{1,6})([ymdh])", re.ASCII)
_DURATION = re.compile(r"(?:[0-9]{1,6}[ymdh])+", re.ASCII)
_BEFORE_ALL_TIME = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Duration:
    """A duration of calendar years, months and days in a time zone, and of hours of 3600 seconds."""

    years: int = 0
    months: int = 0
    days: int = 0
    hours: int = 0

    def __bool__(self) -> bool:
        """Return whether the duration is not zero."""
        return any((self.years, self.months, self.days, self.hours))

    def before(self, moment: datetime, zone: tzinfo) -> datetime:
        """Return the time in UTC that is this long before `moment` (aware).

        Calendar units are subtracted as Go's `Time.AddDate` does, which restic uses. A day that does not exist counts
        into the next month: one month before 31 March is 3 March, or 2 March in a leap year. A time that does not
        exist, because clocks are set forward, or that exists twice gets the offset that was valid at this time of day
        in UTC.
        """
        local = moment.astimezone(zone)
        year, month = divmod((local.year - self.years) * 12 + local.month - 1 - self.months, 12)
        try:
            first = local.replace(year=year, month=month + 1, day=1, tzinfo=UTC, fold=0)
            wall = first + timedelta(days=local.day - 1 - self.days)
            return wall - _offset(wall, zone) - timedelta(hours=self.hours)
        except (ValueError, OverflowError):
            return _BEFORE_ALL_TIME


def _offset(wall: datetime, zone: tzinfo) -> timedelta:
    """Return the offset from UTC of a local time, which is given as if it were in UTC; as Go's `time.Date`."""
    guess = wall.astimezone(zone).utcoffset() or timedelta()
    return (wall - guess).astimezone(zone).utcoffset() or timedelta() if guess else guess


@functools.lru_cache(maxsize=1024)
def parse_duration(text: str) -> Duration:
    """Parse a duration; the last number counts if a unit is repeated, and an empty text is zero.

    Raises `ValueError` with a message for the user.
    """
    if text and not _DURATION.fullmatch(text):
        raise ValueError(
            "write numbers of at most 6 digits, each with one of the units y, m, d and h, such as 1y6m or 36h"
        )
    return Duration(**{_UNITS[unit]: int(number) for number, unit in _PART.findall(text)})
