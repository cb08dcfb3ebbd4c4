"""Counts on how many of the expected nights a good backup has arrived."""

import functools
import itertools
from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime, timedelta

from frepo_core.domain.schedules.backup_deadlines import (
    EARLY,
    EARLY_SHARE,
    Expectation,
    default_grace,
    parse_expectation,
)
from frepo_core.domain.structs import struct

# More backups than this are not counted for one collection.
MOST = 10_000


@struct
class Gap:
    """A time without a good backup, in which `missed` were expected. It ends with the next good one, or the report."""

    since: datetime
    until: datetime
    missed: int


@struct
class Nights:
    """On how many of the `expected` times a good backup has arrived, and the gaps, the oldest first."""

    expected: int
    good: int
    gaps: Sequence[Gap] = ()


@struct
class Period:
    """The time of a report, from `since` to `until`, and when it begins for one collection. All are aware."""

    since: datetime
    until: datetime
    begin: datetime


def count_nights(text: str, grace: timedelta | None, arrivals: Sequence[datetime], period: Period) -> Nights | None:
    """Count the backups that an expectation expects in a period; None for more than `MOST`, or a wrong text.

    `arrivals` are the times of good backups in their order. A time whose grace is not over at the end is not expected
    yet, unless its backup is there.
    """
    try:
        expectation = parse_expectation(text)
    except ValueError:  # for example, the system does not know the time zone any more
        return None
    if period.begin >= period.until:
        return Nights(expected=0, good=0)
    count = _of_cron if expectation.interval is None else _of_interval
    return count(expectation, grace, arrivals, period)


def _of_interval(
    expectation: Expectation, grace: timedelta | None, arrivals: Sequence[datetime], period: Period
) -> Nights | None:
    """Count the intervals. Each backup is expected an interval after the one before, as for the state `overdue`."""
    step = expectation.interval
    assert step is not None
    since, until = period.begin, period.until
    expected = (until - since) // step
    if expected > MOST:
        return None
    allowed = default_grace(step, grace)
    points = [since, *(at for at in arrivals if since < at < until), until]
    gaps = [
        Gap(since=before + step, until=after, missed=(after - before - allowed) // step)
        for before, after in itertools.pairwise(points)
        if after - before >= step + allowed
    ]
    expected = max(expected, sum(gap.missed for gap in gaps))
    return Nights(expected=expected, good=expected - sum(gap.missed for gap in gaps), gaps=gaps)


def _of_cron(
    expectation: Expectation, grace: timedelta | None, arrivals: Sequence[datetime], period: Period
) -> Nights | None:
    found, until = _slots(expectation.text, period.since, period.until), period.until
    if found is None:
        return None
    slots = [slot for slot in found if slot >= period.begin]
    counted = {_slot_of(at, slots) for at in arrivals if at < until}
    gaps: list[Gap] = []
    good = expected = 0
    for number, slot in enumerate(slots[:-1]):
        if number in counted:
            good, expected = good + 1, expected + 1
        elif slot + default_grace(slots[number + 1] - slot, grace) <= until:
            expected += 1
            goes_on = bool(gaps) and number - 1 not in counted
            begin = gaps.pop() if goes_on else Gap(since=slot, until=until, missed=0)
            end = next((at for at in arrivals if at > slot), until)
            gaps.append(Gap(since=begin.since, until=min(end, until), missed=begin.missed + 1))
    return Nights(expected=expected, good=good, gaps=gaps)


@functools.lru_cache(maxsize=256)
def _slots(text: str, since: datetime, until: datetime) -> tuple[datetime, ...] | None:
    """Return the times of cron, and the first two after `until`; None for too many. Most collections share them."""
    times = parse_expectation(text).times(since)
    found = list(itertools.islice(itertools.takewhile(lambda at: at < until, times), MOST + 1))
    if len(found) > MOST:
        return None
    # The last one is only the end of the one before.
    return (*found, *itertools.islice(parse_expectation(text).times(until), 2))


def _slot_of(at: datetime, slots: Sequence[datetime]) -> int | None:
    """Return the number of the time for which a backup counts: also one that came a little before it."""
    number = bisect_right(slots, at) - 1
    if number + 2 < len(slots):
        before, following = slots[number + 1] - at, slots[number + 2] - slots[number + 1]
        period = slots[number + 1] - slots[number] if number >= 0 else following
        if before <= EARLY and EARLY_SHARE * before <= min(period, following):
            return number + 1
    return number if number >= 0 else None
