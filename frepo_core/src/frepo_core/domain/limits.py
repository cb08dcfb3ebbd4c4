"""The limits of a collection, and the rules that they have to follow."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from frepo_core.errors import (
    CollectionSizeBelowContentError,
    CollectionSizeBelowNeedError,
    CollectionSizeBelowVersionSizeError,
    CollectionSizeCeilingError,
    RuleError,
    TooManyVersionsError,
    VersionSizeCeilingError,
    raise_all,
)

from .sizes import format_size

COUNT, ONE, TOTAL = "maxBackupsCount", "maxOneVersionSize", "maxCollectionSize"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits on the number of versions, the bytes of one version and the bytes of all; 0 is no limit."""

    count: int
    one: int
    total: int

    def is_below(self, other: "Limits") -> bool:
        """Return whether fewer versions, or fewer bytes of all versions, are allowed than by the other limits."""
        pairs = ((self.count, other.count), (self.total, other.total))
        return any(mine and (not theirs or mine < theirs) for mine, theirs in pairs)


def infinite_fields(requested: Mapping[str, int]) -> list[str]:
    """Return the fields that switch a limit off, which requires the role `collections.allow_infinite_limits`."""
    return [field for field, value in requested.items() if value == 0]


def check_limits(limits: Limits, *, ceilings: Limits, requested: Mapping[str, int], stored: int = 0) -> None:
    """Check the new limits of a collection; `requested` holds the fields that the request sets.

    `stored` is the size of the collection's versions, in bytes. Raises `RuleError` for the first broken rule, with
    those for the others in its `others`.
    """
    raise_all([*_above_ceilings(ceilings, requested), *_contradictions(limits, requested, stored)])


def _above_ceilings(ceilings: Limits, requested: Mapping[str, int]) -> Iterator[RuleError]:
    if ceilings.count and requested.get(COUNT, 0) > ceilings.count:
        yield TooManyVersionsError(context={"max": ceilings.count})
    if ceilings.one and requested.get(ONE, 0) > ceilings.one:
        yield VersionSizeCeilingError(context={"max": format_size(ceilings.one)})
    if ceilings.total and requested.get(TOTAL, 0) > ceilings.total:
        yield CollectionSizeCeilingError(context={"max": format_size(ceilings.total)})


def _contradictions(limits: Limits, requested: Mapping[str, int], stored: int) -> Iterator[RuleError]:
    needed = limits.count * limits.one
    if limits.one and limits.total and limits.total < limits.one:
        yield CollectionSizeBelowVersionSizeError()
    elif {COUNT, ONE, TOTAL} <= requested.keys() and limits.total and needed > limits.total:
        yield CollectionSizeBelowNeedError(context={"needsAtLeastValue": format_size(needed, up=True)})
    if TOTAL in requested and limits.total and limits.total < stored:
        yield CollectionSizeBelowContentError()
