"""A collection's guards: against empty or broken dumps, and against the early deletion of versions. Off by default."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Literal

from frepo_core.errors import (
    RuleError,
    VersionDeclineError,
    VersionGrewError,
    VersionKindError,
    VersionShrankError,
    VersionTooSmallError,
    VersionUnchangedError,
)

from ..sizes import readable_size
from ..structs import struct
from ..texts.counts import counted

GuardAction = Literal["refuse", "mark", "quarantine"]
_BY_SEVERITY = ("mark", "quarantine", "refuse")


@struct
class Objection:
    """Why an incoming version is suspicious: what a guard or the upload check `check` found, and what follows.

    `error` is raised if the version is refused.
    """

    error: RuleError
    action: GuardAction
    check: str | None = None

    @property
    def reason(self) -> str:
        """The code name of the guard's error, or `check` and the name of the check."""
        return self.error.text if self.check is None else f"check {self.check}"


@struct
class SizeBounds:
    """The smallest and the largest size of a version that is not suspicious, in bytes; `most` is None for any."""

    least: int
    most: int | None


@struct
class Guards:
    """The guards of one collection; 0 switches a guard off.

    Versions younger than `min_retention` are not deleted. A version is suspicious if it is smaller than
    `min_version_size` (bytes), if it shrank by more than `max_shrink_percent` or grew by more than
    `max_growth_percent`, if the sizes of thirty nights decline by more than `max_decline_percent`, with `expects_kind`
    if its content is of another kind than that of the last versions, with `expects_change` if it is the content of an
    earlier day again, and if it has not changed for `max_unchanged`, which is rounded up to days. The `action` on a
    suspicious version: `refuse` it, `mark` it and add it if no other version has to be deleted for it, or put it into
    `quarantine`.
    """

    min_retention: timedelta = timedelta()
    min_version_size: int = 0
    max_shrink_percent: int = 0
    max_growth_percent: int = 0
    max_decline_percent: int = 0
    expects_kind: bool = False
    expects_change: bool = False
    max_unchanged: timedelta = timedelta()
    action: GuardAction = "refuse"

    @property
    def compares_sizes(self) -> bool:
        """Whether the size of a new version is compared with that of earlier ones."""
        return bool(self.max_shrink_percent or self.max_growth_percent)

    @property
    def looks_at_contents(self) -> bool:
        """Whether a guard is on that can find a version suspicious."""
        of_sizes = self.compares_sizes or self.min_version_size or self.max_decline_percent
        return bool(of_sizes or self.expects_kind or self.days_unchanged)

    @property
    def days_unchanged(self) -> int:
        """How many days a content must not come again for; 0: it may for ever."""
        return 1 if self.expects_change else -(-self.max_unchanged // timedelta(days=1))

    def find_violation(self, size: int, usual: int | None, *, largest: int = 0) -> RuleError | None:
        """Return the guard about sizes that a version of `size` bytes violates, or None.

        `usual` is the size of earlier versions, in bytes, None for the first version. `largest` is what was usual at
        the best of times: a version must not shrink below that either, however slowly.
        """
        if size < self.min_version_size:
            return VersionTooSmallError(context=_sizes(size, least=self.min_version_size))
        bounds = self.bounds(usual, largest=largest)
        if size < bounds.least:
            return VersionShrankError(context=_sizes(size, least=bounds.least))
        if bounds.most is not None and size > bounds.most:
            return VersionGrewError(context=_sizes(size, most=bounds.most))
        return None

    def find_decline(self, percent: int) -> RuleError | None:
        """Return the error about sizes of thirty nights that decline by so many percent, or None."""
        if not self.max_decline_percent or percent <= self.max_decline_percent:
            return None
        return VersionDeclineError(context={"percent": percent, "most": self.max_decline_percent})

    def find_standstill(self, days: int) -> RuleError | None:
        """Return the error about a content that has come again for so many days, or None. 0 days: it is a new one."""
        if not self.days_unchanged or days < self.days_unchanged:
            return None
        return VersionUnchangedError(context={"days": counted(days, "day")})

    def bounds(self, usual: int | None, *, largest: int = 0) -> SizeBounds:
        """Return which sizes no guard objects to; the arguments are those of `find_violation`."""
        least, most = self.min_version_size, None
        if self.max_shrink_percent:
            # A size in hundredths is rounded up: a version of exactly the percentage is allowed.
            least = max(least, -(-max(usual or 0, largest) * (100 - self.max_shrink_percent) // 100))
        if self.max_growth_percent and usual:
            most = usual * (100 + self.max_growth_percent) // 100
        return SizeBounds(least=least, most=most)

    def protects(self, created_at: datetime, *, now: datetime) -> bool:
        """Return whether a version is too young to be deleted. One from the future is, because clocks can jump."""
        return bool(self.min_retention) and now - created_at < self.min_retention


def _sizes(size: int, **bound: int) -> dict[str, str]:
    return {name: readable_size(value) for name, value in {"size": size, **bound}.items()}


# Short names for what guards find. Each is the reason of a version in quarantine.
GUARD_REASONS = {
    "size": VersionTooSmallError.text,
    "shrink": VersionShrankError.text,
    "growth": VersionGrewError.text,
    "decline": VersionDeclineError.text,
    "kind": VersionKindError.text,
    "unchanged": VersionUnchangedError.text,
}
# The short names of why versions are in quarantine: also for what an upload check found, and for late leftovers.
ReasonName = Literal["size", "shrink", "growth", "decline", "kind", "unchanged", "check", "overtaken"]
_OF_CHECK = "check "
# The defaults of collections that /api/v1 and `frepo` create. Those of the first API have no guards.
SAFE_GUARDS = Guards(max_shrink_percent=50, expects_kind=True, action="quarantine")


def name_reason(stored: str | None) -> str | None:
    """Return the short name of why a version is in quarantine, see `ReasonName`; None if it is not."""
    if stored is None or stored.startswith(_OF_CHECK):
        return None if stored is None else _OF_CHECK.strip()
    return next((name for name, text in GUARD_REASONS.items() if text == stored), stored)


def find_strictest(objections: Iterable[Objection]) -> Objection | None:
    """Return the first objection with the strictest action, or None: `refuse` before `quarantine` before `mark`."""
    return max(objections, key=lambda objection: _BY_SEVERITY.index(objection.action), default=None)
