"""The result of a simulation: what happens to each version, and how much storage is needed."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Literal, TypeAlias

from frepo_core.domain.structs import struct
from frepo_core.errors import RuleError
from frepo_core.plugins import VersionInfo

Protection: TypeAlias = Literal["pinned", "restored", "min_retention", "locked", "held", "quarantined", "pending"]


@struct
class Eviction:
    """When a version is evicted (UTC), and by the upload of which number.

    `cause` is `rule` if the strategy does not keep it any longer, and `room` if the new version needs its place.
    """

    at: datetime
    by: int
    cause: Literal["rule", "room"]


@struct
class Fate:
    """What happens to a version. Without an `eviction`, it is kept to the end.

    `rules` are the names of the rules that keep it, or that kept it before it was evicted. `protection` is what keeps
    it at the end, whatever the strategy does.
    """

    version: VersionInfo
    is_imagined: bool
    rules: Sequence[str] = ()
    eviction: Eviction | None = None
    protection: Protection | None = None


@struct
class Refused:
    """An upload that is refused (UTC, bytes), and why."""

    at: datetime
    size: int
    error: RuleError


@struct
class Day:
    """What the collection holds at the end of a day (UTC), in bytes. `trash_size` is the size of its trash."""

    day: date
    versions: int
    size: int
    trash_size: int


@struct
class Timeline:
    """What happens to each version, in the order of numbers, which uploads are refused, and each day with an upload.

    `is_complete` is False if the simulation was ended early, because the strategy had read too many versions or taken
    too much processor time, or because nobody waited for the result any more.
    """

    fates: Sequence[Fate]
    refused: Sequence[Refused]
    days: Sequence[Day]
    is_complete: bool
