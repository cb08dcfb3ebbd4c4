"""The trend of sizes over thirty nights: a slow decline, of which each night is too small a part to be suspicious."""

from collections.abc import Sequence
from itertools import combinations
from math import sqrt
from statistics import median_low

NIGHTS = 30
# Three nights in each third: fewer have no median to rely on.
FEWEST_NIGHTS = 9
# The least part of the loss that each half of the nights must have. A loss in a single night has all of it in one half.
_LEAST_SHARE = 4
# So many standard deviations must separate the order of the nights from one by chance.
_LEAST_DEVIATIONS = 3.5


def decline_of(sizes: Sequence[int]) -> int:
    """Return by how many percent sizes (bytes, one a night, the newest last) have declined; 0 if they have not.

    The medians of the first, the second and the last third of the nights are compared. Each must be smaller than the
    one before by a quarter of the loss: a single loss, such as that of a table, is no trend. Nine nights are needed.
    Sizes that go up and down, as those of incremental backups, are none either: see `_is_falling`.
    """
    third = len(sizes) // 3
    if len(sizes) < FEWEST_NIGHTS:
        return 0
    first, middle, last = (median_low(part) for part in (sizes[:third], sizes[third:-third], sizes[-third:]))
    loss = first - last
    if loss <= 0 or _LEAST_SHARE * min(first - middle, middle - last) < loss:
        return 0
    return 100 * loss // first if _is_falling(sizes) else 0


def _is_falling(sizes: Sequence[int]) -> bool:
    """Return whether later nights are smaller far more often than by chance, as Mann and Kendall test it."""
    falls = sum((one > later) - (one < later) for one, later in combinations(sizes, 2))
    count = len(sizes)
    variance = count * (count - 1) * (2 * count + 5) / 18
    return falls >= _LEAST_DEVIATIONS * sqrt(variance)
