"""A collection's guards: against empty or broken dumps, and against the early deletion of versions. Off by default."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from frepo_core.errors import RuleError, VersionShrankError, VersionTooSmallError

GuardAction = Literal["refuse", "mark", "quarantine"]
_BY_SEVERITY = ("mark", "quarantine", "refuse")


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
class Guards:
    """The guards of one collection; 0 switches a guard off.

    Versions younger than `min_retention` are not deleted. A version is suspicious if it is smaller than
    `min_version_size` (bytes), or if it shrank by more than `max_shrink_percent`. The `action` on a suspicious version:
    `refuse` it, `mark` it and add it if no other version has to be deleted for it, or put it into `quarantine`.
    """

    min_retention: timedelta = timedelta()
    min_version_size: int = 0
    max_shrink_percent: int = 0
    action: GuardAction = "refuse"

    def find_violation(self, size: int, previous: int | None) -> RuleError | None:
        """Return the guard that a version of `size` bytes violates, or None.

        `previous` is the size of the version before, in bytes, None for the first version.
        """
        if size < self.min_version_size:
            return VersionTooSmallError()
        if self.max_shrink_percent and previous and size * 100 < previous * (100 - self.max_shrink_percent):
            return VersionShrankError()
        return None

    def protects(self, created_at: datetime, *, now: datetime) -> bool:
        """Return whether a version is too young to be deleted. One from the future is, because clocks can jump."""
        return bool(self.min_retention) and now - created_at < self.min_retention


# The defaults of collections that /api/v1 and the console create. Those of the first API have no guards.
SAFE_GUARDS = Guards(max_shrink_percent=50, action="quarantine")


def find_strictest(objections: Iterable[Objection]) -> Objection | None:
    """Return the first objection with the strictest action, or None: `refuse` before `quarantine` before `mark`."""
    return max(objections, key=lambda objection: _BY_SEVERITY.index(objection.action), default=None)
