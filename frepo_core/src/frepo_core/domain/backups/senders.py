"""From which programs and hosts the versions of a collection come, and what is odd about that."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from itertools import combinations
from typing import Any

from ..structs import struct

# What was not seen for so long is forgotten.
KNOWN_FOR = timedelta(weeks=4)
# Who has sent for so long, on two days or more, is the usual sender. A pod has another name each night.
USUAL_AFTER = timedelta(days=7)
# What is older is no news.
NEWS = timedelta(days=7)
# Two hosts that both sent on two days in a row send in turn. A host that takes the place of another one does not.
OVERLAP = timedelta(days=1)
MOST, LONGEST = 8, 100
_PRODUCT = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}")
_BROWSER = "Mozilla"  # how each browser begins


@struct
class Seen:
    """On which days something was seen first and last (UTC)."""

    first: date
    last: date

    def joined(self, other: "Seen | None") -> "Seen":
        """Return the time that has both in it."""
        return self if other is None else Seen(first=min(self.first, other.first), last=max(self.last, other.last))


def program_of(user_agent: str) -> str:
    """Return the first product of a `User-Agent` without its version (RFC 9110, 10.1.5).

    Empty for a browser: a person has uploaded something by hand.
    """
    found = _PRODUCT.match(user_agent)
    return found[0] if found and found[0] != _BROWSER else ""


def after_upload(seen: Sequence[Any] | None, program: str, host: str, day: date) -> list[list[str]]:
    """Return what is stored about a client after one more upload: programs and hosts with their first and last days."""
    host, today = host[:LONGEST], day.isoformat()
    known = [list(one) for one in seen or () if date.fromisoformat(one[3]) >= day - KNOWN_FOR]
    for one in known:
        if one[:2] == [program, host]:
            one[3] = max(one[3], today)
            return known
    return [*known, [program, host, today, today]][-MOST:]


def times_of(entries: Iterable[Sequence[str]], position: int) -> Mapping[str, Seen]:
    """Return when each program (position 0) or host (1) of stored entries was seen; what is not known is left out."""
    found: dict[str, Seen] = {}
    for one in entries:
        if name := one[position]:
            times = Seen(first=date.fromisoformat(one[2]), last=date.fromisoformat(one[3]))
            found[name] = times.joined(found.get(name))
    return found


def find_new(times: Mapping[str, Seen], today: date) -> Iterator[tuple[str, str]]:
    """Yield each name that is new these days, with the usual one before it, if there was one in the last weeks."""
    for name, seen in times.items():
        usual = [
            (one.last, other)
            for other, one in times.items()
            if one.first < one.last and one.first <= seen.first - USUAL_AFTER and one.last >= seen.first - KNOWN_FOR
        ]
        if usual and seen.first >= today - NEWS:
            yield name, max(usual)[1]


def find_in_turn(times: Mapping[str, Seen], today: date) -> list[str]:
    """Return the names that were seen in turn these days; empty if none were."""
    found = set()
    for (name, one), (other, two) in combinations(times.items(), 2):
        last = min(one.last, two.last)
        if last - max(one.first, two.first) >= OVERLAP and last >= today - NEWS:
            found |= {name, other}
    return sorted(found)
