"""Parses and formats durations: `90s`, `30m`, `48h`, `7d`, `2w`, and those of ISO 8601."""

import re
from datetime import timedelta

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_LONGEST = timedelta.max // timedelta(seconds=1)
_SHOWN = 64  # characters of a wrong text in the message
_DURATION = re.compile(r"([0-9]{1,9}) ?([smhdw])", re.IGNORECASE | re.ASCII)
_ISO_DURATION = re.compile(
    r"P(?:([0-9]{1,9})W)?(?:([0-9]{1,9})D)?(?:T(?:([0-9]{1,9})H)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9})S)?)?", re.ASCII
)


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


def format_age(length: timedelta) -> str:
    """Format about how long something takes or took, in the largest unit of which there are two, such as `8m`."""
    seconds = max(0, int(length.total_seconds()))
    unit = next((unit for unit, size in reversed(_UNITS.items()) if seconds >= 2 * size), "s")
    return f"{seconds // _UNITS[unit]}{unit}"


def parse_any_duration(text: str) -> timedelta:
    """Parse a duration of ISO 8601, such as `PT6H` or `P1DT12H`, or a short one, such as `6h`.

    Years and months are refused, because their length varies. Raises `ValueError` with a message for the user.
    """
    if text[:1].upper() != "P":
        return parse_duration(text)
    match = _ISO_DURATION.fullmatch(text.upper())
    if not match or not any(match.groups()) or text[-1] in "Tt":
        raise ValueError(f"{text[:_SHOWN]!r} is not a duration: write e.g. P1D, PT6H, P1DT12H or 1d")
    weeks, days, hours, minutes, seconds = (int(number or 0) for number in match.groups())
    try:
        return timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    except OverflowError:
        raise ValueError(f"{text[:_SHOWN]!r} is too long a duration") from None


def format_iso_duration(length: timedelta) -> str:
    """Format a duration as ISO 8601, in days, hours, minutes and whole seconds: `P1D`, `PT6H`; `PT0S` for zero."""
    if not length:
        return "PT0S"
    minutes, seconds = divmod(int(length.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    time = "".join(f"{number}{unit}" for number, unit in ((hours, "H"), (minutes, "M"), (seconds, "S")) if number)
    if not days and not time:
        return "PT0S"
    return f"P{f'{days}D' if days else ''}{f'T{time}' if time else ''}"
