"""When the next backup of a collection is expected, from `expected_every`: a duration, or cron with a time zone."""

import functools
import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo

from ..durations import format_iso_duration, parse_any_duration
from ..structs import struct
from .cron import FIELDS, check_cron, next_time, parse_zone, times_after

SHORTEST, LONGEST = timedelta(minutes=1), timedelta(days=3660)
MIN_DEFAULT_GRACE = timedelta(minutes=10)
MAX_GRACE = timedelta(days=366)
# The clock of a client may be fast: an upload at most this long before a time of cron counts for it.
EARLY = timedelta(hours=1)
EARLY_SHARE = 10  # and by at most such a part of the time from the one before it, and to the one after it
MAX_TEXT = 255  # characters
_EXAMPLES = "write a duration such as P1D or 6h, or cron with a time zone such as `0 2 * * * Europe/Warsaw`"


@struct
class Deadline:
    """When a backup is due, and when it is overdue because the grace has passed (UTC, aware)."""

    due_at: datetime
    overdue_at: datetime


@struct
class Expectation:
    """How often backups are expected. `text` is the normal form of `expected_every`.

    `interval` is None for cron, which is read in `zone`.
    """

    text: str
    interval: timedelta | None = None
    cron: str = ""
    zone: tzinfo = UTC

    def deadline(
        self, *, created_at: datetime, arrived_at: datetime | None, since: datetime, grace: timedelta | None
    ) -> Deadline:
        """Return when the next backup is due. All times are aware.

        A duration is counted from the last arrival, or from the creation. Cron is due at the first of its times after
        the last arrival, but not before `since`, when it was set. `grace` is None for the default: a tenth of the
        duration, or of the time between two times of cron, at least 10 minutes.
        """
        if self.interval is not None:
            due, step = (arrived_at or created_at) + self.interval, self.interval
        else:
            due, step = self._cron_due(arrived_at, max(created_at, since))
        return Deadline(due_at=due.astimezone(UTC), overdue_at=(due + default_grace(step, grace)).astimezone(UTC))

    def times(self, start: datetime) -> Iterator[datetime]:
        """Yield when backups are expected, in UTC: at `start` and after each interval, or by cron from `start`."""
        if self.interval is None:
            yield from times_after(self.cron, self.zone, start - timedelta(microseconds=1))
        else:
            yield from (start.astimezone(UTC) + number * self.interval for number in itertools.count())

    def _cron_due(self, arrived_at: datetime | None, since: datetime) -> tuple[datetime, timedelta]:
        """Return the time of cron that has no backup yet, and how long after it the following one is."""
        start = max(arrived_at, since) if arrived_at else since
        due = self._next(start)
        following = self._next(due)
        if start == arrived_at and self._is_early(start, due, following):
            due, following = following, self._next(following)
        return due, following - due

    def slot_of(self, arrived_at: datetime) -> datetime | None:
        """Return the time of cron for which a backup counts that came a little before it; None for any other backup."""
        if self.interval is not None:
            return None
        slot = self._next(arrived_at)
        return slot.astimezone(UTC) if self._is_early(arrived_at, slot, self._next(slot)) else None

    def _is_early(self, arrived_at: datetime, slot: datetime, following: datetime) -> bool:
        before = slot - arrived_at
        period = EARLY_SHARE * before
        return before <= EARLY and period <= following - slot and self._next(slot - period) == slot

    def _next(self, moment: datetime) -> datetime:
        found = next_time(self.cron, self.zone, moment)
        if found is None:
            raise ValueError(f"{self.text!r} never happens after {moment}")
        return found


def default_grace(step: timedelta, grace: timedelta | None) -> timedelta:
    """Return the grace, or the default for backups that are expected each `step`."""
    if grace is not None:
        return grace
    return max(timedelta(seconds=int(step.total_seconds() / 10)), MIN_DEFAULT_GRACE)


@functools.lru_cache(maxsize=1024)
def parse_expectation(text: str) -> Expectation:
    """Parse `expected_every`: a duration, or cron followed by a time zone (default: UTC).

    Raises `ValueError` with a message for the user.
    """
    words = text.split()
    if len(words) in {FIELDS, FIELDS + 1}:
        cron = " ".join(words[:FIELDS])
        zone = parse_zone(words[FIELDS]) if len(words) > FIELDS else UTC
        try:
            check_cron(cron)
        except ValueError as error:
            raise ValueError(f"{cron[:64]!r} is not cron ({error}): {_EXAMPLES}") from None
        if len(f"{cron} {zone}") > MAX_TEXT:
            raise ValueError(f"the cron expression has more than {MAX_TEXT} characters")
        return Expectation(text=f"{cron} {zone}", cron=cron, zone=zone)
    if len(words) != 1:
        raise ValueError(f"{text[:64]!r} is neither a duration nor cron: {_EXAMPLES}")
    try:
        interval = parse_any_duration(words[0])
    except ValueError:
        raise ValueError(f"{text[:64]!r} is neither a duration nor cron: {_EXAMPLES}") from None
    if not SHORTEST <= interval <= LONGEST:
        raise ValueError(f"{text!r} is not between one minute (PT1M) and ten years")
    return Expectation(text=format_iso_duration(interval), interval=interval)


def parse_grace(text: str) -> timedelta:
    """Parse a grace, at most 366 days. Raises `ValueError` with a message for the user."""
    grace = parse_any_duration(text)
    if grace > MAX_GRACE:
        raise ValueError(f"{text!r} is more than 366 days")
    return grace
