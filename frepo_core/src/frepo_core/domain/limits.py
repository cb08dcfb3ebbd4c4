"""The limits of a collection, and the rules that they have to follow."""

from collections.abc import Mapping
from dataclasses import dataclass

from frepo_core.errors import (
    CollectionSizeBelowContentError,
    CollectionSizeBelowNeedError,
    CollectionSizeBelowVersionSizeError,
    CollectionSizeCeilingError,
    TooManyVersionsError,
    VersionSizeCeilingError,
)

from .sizes import format_size

COUNT, ONE, TOTAL = "maxBackupsCount", "maxOneVersionSize", "maxCollectionSize"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits on the number of versions, the bytes of one version and the bytes of all; 0 is no limit."""

    count: int
    one: int
    total: int


def infinite_fields(requested: Mapping[str, int]) -> list[str]:
    """Return the fields that switch a limit off, which requires the role `collections.allow_infinite_limits`."""
    return [field for field, value in requested.items() if value == 0]


def check_limits(limits: Limits, *, ceilings: Limits, requested: Mapping[str, int], stored: int = 0) -> None:
    """Check the new limits of a collection; `requested` holds the fields that the request sets.

    `stored` is the size of the collection's versions, in bytes. Raises `RuleError` for the first broken rule.
    """
    _check_ceilings(ceilings, requested)
    if limits.one and limits.total and limits.total < limits.one:
        raise CollectionSizeBelowVersionSizeError()
    needed = limits.count * limits.one
    if {COUNT, ONE, TOTAL} <= requested.keys() and limits.total and needed > limits.total:
        raise CollectionSizeBelowNeedError(context={"needsAtLeastValue": format_size(needed, up=True)})
    if TOTAL in requested and limits.total and limits.total < stored:
        raise CollectionSizeBelowContentError()


def _check_ceilings(ceilings: Limits, requested: Mapping[str, int]) -> None:
    if ceilings.count and requested.get(COUNT, 0) > ceilings.count:
        raise TooManyVersionsError(context={"max": ceilings.count})
    if ceilings.one and requested.get(ONE, 0) > ceilings.one:
        raise VersionSizeCeilingError(context={"max": format_size(ceilings.one)})
    if ceilings.total and requested.get(TOTAL, 0) > ceilings.total:
        raise CollectionSizeCeilingError(context={"max": format_size(ceilings.total)})
