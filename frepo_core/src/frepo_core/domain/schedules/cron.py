"""Cron expressions in a time zone, with the rules of Debian's cron for the days on which the clock is changed."""

from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

FIELDS = 5


def check_cron(text: str) -> None:
    """Raise `ValueError`, with the reason, for a text that is not cron or that never happens."""
    if len(text.split()) != FIELDS:
        raise ValueError(f"{len(text.split())} fields instead of {FIELDS}")
    try:
        next(CronSim(text, datetime(2026, 1, 1, tzinfo=UTC)))
    except CronSimError as error:
        raise ValueError(str(error)) from None
    except StopIteration:
        raise ValueError("it never happens") from None


def next_time(text: str, zone: tzinfo, moment: datetime) -> datetime | None:
    """Return the first time after `moment` (aware), in UTC; None without such a time in the next 50 years."""
    return next(times_after(text, zone, moment), None)


def times_after(text: str, zone: tzinfo, moment: datetime) -> Iterator[datetime]:
    """Yield the times after `moment` (aware), in UTC. They end if there is none for 50 years."""
    for time in CronSim(text, moment.astimezone(zone)):
        # When clocks are set back, an hour is repeated, and its first run may be what the library finds in the second.
        if time > moment:
            moment = time.astimezone(UTC)
            yield moment


def parse_zone(name: str) -> tzinfo:
    """Return the time zone with this name, such as `Europe/Berlin`. Raises `ValueError` with a message for the user."""
    if name.upper() == "UTC":  # known without the system's database of time zones
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"{name!r} is not a time zone of this system: write UTC, or e.g. Europe/Berlin") from None
