"""Which sizes the guards of a collection allow for its next version, and what they compare it with."""

from dataclasses import dataclass
from datetime import datetime

from frepo_core.domain.backups.baseline import Baseline

from ...base.records import CollectionRecord
from ..rows.newest_good import GoodVersion


@dataclass(frozen=True, kw_only=True)
class SizeBounds:
    """A version is suspicious if it is smaller than `least`, or larger than `most`, None for any size. In bytes.

    `median` is that of the last 14 good versions, `largest_median` the largest one of 60 days. They are None for fewer
    than three versions, of which each is compared with the one before.
    """

    median: int | None = None
    largest_median: int | None = None
    least: int = 0
    most: int | None = None


def find_size_bounds(record: CollectionRecord, newest_good: GoodVersion | None, now: datetime) -> SizeBounds:
    """Return the bounds for a version that arrives `now` (UTC)."""
    baseline = Baseline.load(record.baseline)
    median, largest = baseline.median(), baseline.largest_median(now)
    before = newest_good.size if newest_good else None
    bounds = record.guards.bounds(before if median is None else median, largest=largest)
    return SizeBounds(median=median, largest_median=largest or None, least=bounds.least, most=bounds.most)
