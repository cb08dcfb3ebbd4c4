"""When a token ends: its expiry as dates, words such as `tomorrow` and sums such as `+30 minutes`, or by a rotation."""

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta
from typing import Literal

PROBLEM = "invalid_date_format_and_not_an_expression"
# How long a token stays valid that has replaced itself, and how long after the first use of its successor.
OVERLAP = timedelta(days=7)
AFTER_FIRST_USE = timedelta(days=1)

_PART = re.compile(
    r"([+-]?)\s*([0-9]{1,6})\s*(second|sec|minute|min|hour|day|week|month|year)s?\s*", re.IGNORECASE | re.ASCII
)
_DAYS = {"tomorrow": 1, "today": 0, "midnight": 0}
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?: [0-9]{2}:[0-9]{2}:[0-9]{2})?")


def parse_expiry(text: str | None, *, now: datetime, default: str) -> datetime | None:
    """Return the time of expiry (aware, UTC), or None for `never`.

    Accepts: nothing, `auto` and `automatic` (the `default`, itself an expression), `never`,
    `YYYY-MM-DD[ HH:MM:SS]` in UTC, `tomorrow`, and sums such as `+30 minutes` or `+1 day 2 hours`.
    Raises `ValueError` for anything else.
    """
    expression = (text or "").strip()
    if expression.lower() in {"", "auto", "automatic"}:
        expression = default.strip()
    if expression.lower() == "never":
        return None
    return _parse_date(expression) or _parse_relative(expression, now)


def format_expiry(end: datetime | None) -> str | None:
    """Format the time of expiry as `YYYY-MM-DD HH:MM:SS` in UTC; None stays None."""
    return end.astimezone(UTC).replace(tzinfo=None).isoformat(sep=" ", timespec="seconds") if end else None


def problem_with_past(end: datetime | None, *, now: datetime) -> str | None:
    """Return what is wrong with a time of expiry that is over, None if it is still to come or never comes."""
    if end is None or end > now:
        return None
    return f"{format_expiry(end)} UTC is in the past: write a time that is still to come, or never"


def end_of_replaced(expires_at: datetime | None, *, now: datetime) -> datetime:
    """Return when a token ends that has replaced itself now: 7 days later, or at its own expiry if that is earlier."""
    return min(expires_at or now + OVERLAP, now + OVERLAP)


def _parse_date(text: str) -> datetime | None:
    if not _DATE.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError as error:
        raise ValueError(PROBLEM) from error


def _parse_relative(text: str, now: datetime) -> datetime:
    word = text.lower()
    if word == "now":
        return now
    if word in _DAYS:
        return now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=_DAYS[word])
    position, end = 0, now
    while match := _PART.match(text, position):
        sign: Literal[1, -1] = -1 if match[1] == "-" else 1
        end = _shift(end, sign * int(match[2]), match[3].lower())
        position = match.end()
    if not position or position != len(text):
        raise ValueError(PROBLEM)
    return end


def _shift(moment: datetime, count: int, unit: str) -> datetime:
    try:
        if unit in {"month", "year"}:
            return _shift_months(moment, count * (12 if unit == "year" else 1))
        seconds = {"sec": 1, "second": 1, "min": 60, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
        return moment + timedelta(seconds=count * seconds[unit])
    except OverflowError as error:
        raise ValueError(PROBLEM) from error


def _shift_months(moment: datetime, months: int) -> datetime:
    """Add months. In a shorter month, the 31st becomes its last day."""
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise ValueError(PROBLEM)
    return moment.replace(year=year, month=month + 1, day=min(moment.day, monthrange(year, month + 1)[1]))
