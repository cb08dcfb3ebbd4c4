"""Which rules keep which versions: the decisions of restic 0.14's `forget`.

https://github.com/restic/restic/blob/v0.14.0/internal/restic/snapshot_policy.go
"""

import functools
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TypeAlias

from .durations import Duration, parse_duration
from .options import KeepOptions, find_zone

Periods: TypeAlias = tuple[int, int, int, int, int]
_PERIODS = ("hourly", "daily", "weekly", "monthly", "yearly")
# Without a rule, every version is kept for this reason.
EVERYTHING = "everything"
# From the strongest reason to the weakest: the shorter its period, the stronger a rule is.
STRENGTH = (
    EVERYTHING,
    "last",
    "within",
    *(rule for period in _PERIODS for rule in (period, f"within_{period}")),
)


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The rules that are switched on.

    `counted` has (name, period, number of versions), `dated` has (name, period, duration). `period` is an index into
    `Periods`. None stands for the version itself: each is kept.
    """

    zone: tzinfo
    counted: Sequence[tuple[str, int | None, int]]
    dated: Sequence[tuple[str, int | None, Duration]]

    @classmethod
    @functools.lru_cache(maxsize=1024)
    def of(cls, options: KeepOptions) -> "Policy":
        """Return the rules of a collection's options."""
        periods: list[tuple[str, int | None]] = [(name, index) for index, name in enumerate(_PERIODS)]
        counts = [(name, period, getattr(options, name)) for name, period in [("last", None), *periods]]
        within = [("within", None), *((f"within_{name}", period) for name, period in periods)]
        durations = [(name, period, parse_duration(getattr(options, name))) for name, period in within]
        return cls(
            zone=find_zone(options.timezone),
            counted=[rule for rule in counts if rule[2]],
            dated=[rule for rule in durations if rule[2]],
        )


def find_rules(
    times: Sequence[datetime], policy: Policy, *, latest: datetime, bad: AbstractSet[int] = frozenset()
) -> list[list[str]]:
    """Return for each time of a version the names of the rules that keep it; none if it is not kept.

    `times` are aware and in descending order. Durations are counted back from `latest`, the newest of them that is not
    in the future. `bad` are the positions of bad versions: they take no place of a good one.
    """
    if not policy.counted and not policy.dated:
        return [[EVERYTHING] for _ in times]
    found = _find(times, policy, latest, bad)
    if bad:
        good = [position for position in range(len(times)) if position not in bad]
        for position, names in zip(
            good, _find([times[each] for each in good], policy, latest, frozenset()), strict=True
        ):
            found[position] = names
    return found


def _find(times: Sequence[datetime], policy: Policy, latest: datetime, bad: AbstractSet[int]) -> list[list[str]]:
    found: list[list[str]] = [[] for _ in times]
    periods = [_periods(time, policy.zone) for time in times]
    for name, period, count in policy.counted:
        _mark(found, periods, name, period, count, bad)
    for name, period, duration in policy.dated:
        start = duration.before(latest, policy.zone)
        young = next((position for position, time in enumerate(times) if time <= start), len(times))
        _mark(found[:young], periods, name, period, young, bad)
    return found


def _mark(
    found: Sequence[list[str]],
    periods: Sequence[Periods],
    name: str,
    period: int | None,
    count: int,
    bad: AbstractSet[int],
) -> None:
    """Add the name to the newest version of each of the last `count` hours, days, ... that have one.

    A bad version gets it only if its hour, day, ... has no good one.
    """
    if period is None:
        for names in found[:count]:
            names.append(name)
        return
    taken = {each[period] for position, each in enumerate(periods) if position not in bad} if bad else ()
    last = -1
    for position, (names, of_version) in enumerate(zip(found, periods, strict=False)):
        if of_version[period] == last:
            continue
        if not count:
            return
        last = of_version[period]
        count -= 1
        if position not in bad or last not in taken:
            names.append(name)


@functools.lru_cache(maxsize=2**16)
def _periods(time: datetime, zone: tzinfo) -> Periods:
    """Return the numbers of the hour, day, ISO week, month and year in which a time is."""
    local = time.astimezone(zone)
    week_year, week, _ = local.isocalendar()
    month = local.year * 100 + local.month
    day = month * 100 + local.day
    return day * 100 + local.hour, day, week_year * 100 + week, month, local.year
