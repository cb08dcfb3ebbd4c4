"""What many failures have in common: one host, storage, network or hour, which says more than a list of names."""

from collections import Counter
from collections.abc import Mapping, Sequence

# From so many on, failures are looked at together.
MASS = 5
# The first one that explains the failures is named.
WHATS = ("host", "storage", "network", "hour")
# Nine of ten failures have it in common.
_SHARE = 0.9


Facts = Sequence[Mapping[str, str]]


def find_common_cause(failed: Facts, others: Facts) -> tuple[str, str] | None:
    """Return what nearly all of many failures have in common, and its value; None without that, or for a few.

    Each mapping has values for some of `WHATS`. What as many others have, or all, is where everything is, and no cause.
    """
    if len(failed) < MASS:
        return None
    for what in WHATS:
        values = Counter(one[what] for one in failed if one.get(what))
        for value, number in values.most_common(1):
            well = sum(one.get(what) == value for one in others)
            has_contrast = what == "hour" or any(one.get(what) not in {None, value} for one in (*failed, *others))
            if number >= _SHARE * len(failed) and well < number and has_contrast:
                return what, value
    return None
