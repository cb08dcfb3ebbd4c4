"""Chooses, for the newest contents of a group, which of them stay whole, and which become the difference to such a one.

One step, so that the newest is read fast. A base is one of the newest when it is chosen, and stays whole as long as one
of the newest depends on it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from .planned_content import MOST_DEPENDENTS, Content, Freedom, shared_part, shares_most

COMPARED = 32


def keep_bases_whole(contents: Sequence[Content]) -> list[Content]:
    """Return the contents; those on which one of the newest depends now stay whole until it has another base.

    And so does what a later one depends on: that was one of the newest, and gets another base first.
    """
    bases = _find_needed(contents)

    def is_kept(one: Content) -> bool:
        return one.id in bases and one.base_id is None and one.freedom is Freedom.DELTA

    return [replace(one, freedom=Freedom.ZSTD) if is_kept(one) else one for one in contents]


def find_newest_bases(contents: Sequence[Content]) -> Mapping[int, int]:
    """Return the bases of those of the newest contents that become differences, by their ids.

    What arrived last is asked first: it stays the newest for longest.
    """
    bases, wholes = _kept(contents), _find_needed(contents)
    wholes |= {one.base_id for one in contents if one.freedom is Freedom.NONE and one.base_id is not None}
    counts = Counter(bases.values())
    newest = [one for one in contents if one.is_newest and one.freedom is not Freedom.NONE]
    for content in reversed(newest):
        is_open = content.id not in bases and content.id not in counts and content.id not in wholes
        if content.freedom is Freedom.SHARED and is_open:
            possible = [one for one in newest if one.base_id is None and one.id not in bases and one is not content]
            if (base := _find(content, possible, counts)) is not None:
                bases[content.id] = base.id
                counts[base.id] += 1
    return bases


def _find_needed(contents: Sequence[Content]) -> set[int]:
    """Return the bases of the newest contents, and of those that are later than their base."""
    places = {one.id: place for place, one in enumerate(contents)}
    return {
        one.base_id
        for place, one in enumerate(contents)
        if one.base_id is not None and (one.freedom is Freedom.SHARED or places.get(one.base_id, place) < place)
    }


def _kept(contents: Sequence[Content]) -> dict[int, int]:
    """Return the bases that the newest contents have and keep."""
    by_id, kept = {one.id: one for one in contents}, dict[int, int]()
    for content in contents:
        base = by_id.get(content.base_id) if content.base_id is not None else None
        if content.freedom is Freedom.SHARED and base and base.base_id is None and content.may_stay_on(base):
            kept[content.id] = base.id
    return kept


def _find(content: Content, possible: Sequence[Content], counts: Mapping[int, int]) -> Content | None:
    """Return the best base: one that has dependents already, then the most alike, then what arrived last.

    Few are compared: those with dependents first, and the latest.
    """
    free = [one for one in possible if counts.get(one.id, 0) + one.dependents < MOST_DEPENDENTS]
    compared = sorted(free, key=lambda one: one.id in counts)[-COMPARED:]
    alike = [one for one in compared if content.may_rely_on(one) and shares_most(content, one)]
    return max(reversed(alike), key=lambda one: (one.id in counts, shared_part(content, one) or 0.0), default=None)
