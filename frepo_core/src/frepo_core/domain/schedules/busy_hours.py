"""At which hours uploads come: work that can wait leaves the machine to them."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

HOURS = 24


def find_busy_hours(arrivals: Iterable[datetime]) -> frozenset[int]:
    """Return the hours of the day (UTC) in which more than twice as many uploads end as in an average one.

    They are at most eleven. If uploads come at all hours, none is busy.
    """
    counts = Counter(arrival.hour for arrival in arrivals)
    return frozenset(hour for hour, count in counts.items() if count * HOURS > 2 * counts.total())
