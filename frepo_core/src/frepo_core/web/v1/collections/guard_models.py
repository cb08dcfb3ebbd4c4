"""The models of the guards of a collection, and of the sizes that they allow."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from frepo_core.domain.backups import guards as rules

from ...conventions.merge_patch import Patch, unset
from ...conventions.types import Duration, Percent, Whole
from ...schemas.models import Reply

# What happens to a suspicious version. The first API calls `mark` `keep`.
OnSuspicious = Annotated[
    Literal["mark", "refuse", "quarantine"], BeforeValidator(lambda value: "mark" if value == "keep" else value)
]


class Guards(Reply):
    """The guards against broken backups and early deletion; a guard of 0 is off.

    A version that violates one is suspicious: it is refused, put into quarantine, or added with a mark. Sizes are
    compared with the median of the last 14 versions, and with the largest median of 60 days. `expects_kind` compares
    what upload checks say about the format, the program and the database with the last three versions.
    `expects_change` finds the content of an earlier day suspicious, `max_unchanged` one that has not changed for so
    long, in days. `max_decline_percent` is about the trend of the sizes of thirty nights.
    """

    min_retention: Duration
    min_version_size: Whole
    max_shrink_percent: Percent
    max_growth_percent: Whole
    max_decline_percent: Percent
    expects_kind: bool
    expects_change: bool
    max_unchanged: Duration
    on_suspicious: OnSuspicious


class GuardsPatch(Patch):
    """New guards; 0 switches one off."""

    min_retention: Duration = unset()
    min_version_size: Whole = unset()
    max_shrink_percent: Percent = unset()
    max_growth_percent: Whole = unset()
    max_decline_percent: Percent = unset()
    expects_kind: Annotated[bool, Field(strict=True)] = unset()
    expects_change: Annotated[bool, Field(strict=True)] = unset()
    max_unchanged: Duration = unset()
    on_suspicious: OnSuspicious = unset()


class SizeBounds(Reply):
    """Which size the next version may have, in bytes: a guard finds it suspicious below `least`, and above `most`.

    `median` is that of the last 14 good versions, `largest_median` the largest one of 60 days. Both are null for fewer
    than three, of which each is compared with the one before. `most` is null for no limit.
    """

    median: Whole | None
    largest_median: Whole | None
    least: Whole
    most: Whole | None


def guards_of(guards: rules.Guards) -> Guards:
    """Convert the guards."""
    values = {name: value for name, value in vars(guards).items() if name != "action"}
    return Guards(**values, on_suspicious=guards.action)
