"""Hours of the week, such as `mon-fri 08:00-18:00`."""

import re
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_FORM = re.compile(r"(?:([a-z]{3})-([a-z]{3}) )?(\d\d:\d\d)-(\d\d:\d\d)")


@dataclass(frozen=True, kw_only=True)
class Hours:
    """Hours on some days of the week, 0 for Monday. Those that end before they begin last over midnight."""

    days: frozenset[int]
    start: time
    end: time
    text: str

    def __str__(self) -> str:
        """Return the hours as they are written in the setting."""
        return self.text

    def include(self, moment: datetime) -> bool:
        """Return whether they include this local time. The hours after midnight belong to the day before."""
        now, day = moment.time(), moment.weekday()
        if self.start <= self.end:
            return day in self.days and self.start <= now < self.end
        return (day in self.days and now >= self.start) or ((day - 1) % 7 in self.days and now < self.end)


def parse_hours(value: Any) -> Any:
    """Return the hours that a text names. Raises `ValueError`."""
    if not isinstance(value, str):
        return value
    match = _FORM.fullmatch(value.lower())
    if match is None or not {match[1] or "mon", match[2] or "sun"} <= {*DAYS}:
        raise ValueError("write e.g. 08:00-18:00 or mon-fri 08:00-18:00")
    first, last = DAYS.index(match[1] or "mon"), DAYS.index(match[2] or "sun")
    days = frozenset((first + step) % 7 for step in range((last - first) % 7 + 1))
    return Hours(days=days, start=time.fromisoformat(match[3]), end=time.fromisoformat(match[4]), text=value)
