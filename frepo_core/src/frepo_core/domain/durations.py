"""Parses and formats durations: `90s`, `30m`, `48h`, `7d`, `2w`."""

import re
from datetime import timedelta

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_LONGEST = timedelta.max // timedelta(seconds=1)
_SHOWN = 64  # characters of a wrong text in the message
_DURATION = re.compile(r"([0-9]{1,9}) ?([smhdw])", re.IGNORECASE | re.ASCII)


def parse_duration(text: str) -> timedelta:
    """Parse a duration; `0` needs no unit. Raises `ValueError` with a message for the user."""
    if text == "0":
        return timedelta()
    match = _DURATION.fullmatch(text)
    seconds = int(match[1]) * _UNITS[match[2].lower()] if match else None
    if seconds is None or seconds > _LONGEST:
        raise ValueError(f"{text[:_SHOWN]!r} is not a duration: write e.g. 30m, 48h, 7d or 2w")
    return timedelta(seconds=seconds)


def format_duration(length: timedelta) -> str | None:
    """Format a duration in its largest whole unit, such as `7d`; None if it is zero."""
    seconds = int(length.total_seconds())
    unit = next((unit for unit, size in reversed(_UNITS.items()) if seconds % size == 0), "s")
    return f"{seconds // _UNITS[unit]}{unit}" if seconds else None
