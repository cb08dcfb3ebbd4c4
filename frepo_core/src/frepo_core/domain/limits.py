"""The limits of a collection, and the rules that they have to follow."""

from collections.abc import Iterator, Mapping

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
from .structs import struct

# The names of the limits, as in `Limits`.
COUNT, ONE, TOTAL = "versions", "version_size", "total_size"


@struct
class Limits:
    """Limits on the number of versions, the bytes of one version and the bytes of all; 0 is no limit."""

    versions: int
    version_size: int
    total_size: int

    @property
    def count(self) -> int:
        """The number of versions, for plug-ins of release candidates."""
        return self.versions

    @property
    def total(self) -> int:
        """The bytes of all versions, for plug-ins of release candidates."""
        return self.total_size

    def is_below(self, other: "Limits") -> bool:
        """Return whether fewer versions, or fewer bytes of all versions, are allowed than by the other limits."""
        pairs = ((self.versions, other.versions), (self.total_size, other.total_size))
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
    if ceilings.versions and requested.get(COUNT, 0) > ceilings.versions:
        yield TooManyVersionsError(context={"max": ceilings.versions})
    if ceilings.version_size and requested.get(ONE, 0) > ceilings.version_size:
        yield VersionSizeCeilingError(context={"max": format_size(ceilings.version_size)})
    if ceilings.total_size and requested.get(TOTAL, 0) > ceilings.total_size:
        yield CollectionSizeCeilingError(context={"max": format_size(ceilings.total_size)})


def _contradictions(limits: Limits, requested: Mapping[str, int], stored: int) -> Iterator[RuleError]:
    needed = limits.versions * limits.version_size
    if limits.version_size and limits.total_size and limits.total_size < limits.version_size:
        yield CollectionSizeBelowVersionSizeError()
    elif {COUNT, ONE, TOTAL} <= requested.keys() and limits.total_size and needed > limits.total_size:
        yield CollectionSizeBelowNeedError(context={"needsAtLeastValue": format_size(needed, up=True)})
    if TOTAL in requested and limits.total_size and limits.total_size < stored:
        yield CollectionSizeBelowContentError()
