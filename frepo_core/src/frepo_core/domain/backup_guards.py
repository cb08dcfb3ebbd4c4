"""A collection's guards: against empty or broken dumps, and against the early deletion of versions. Off by default."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from frepo_core.errors import RuleError, VersionShrankError, VersionTooSmallError

GuardAction = Literal["refuse", "keep"]


@dataclass(frozen=True, kw_only=True)
class Guards:
    """The guards of one collection; 0 switches a guard off.

    Versions younger than `min_retention` are not deleted. A version is suspicious if it is smaller than
    `min_version_size` (bytes), or if it shrank by more than `max_shrink_percent`. The `action` on a suspicious version:
    `refuse` it, or `keep` it if no other version has to be deleted for it.
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
