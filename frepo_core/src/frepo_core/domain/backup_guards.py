"""Guards of a collection: against the empty dump, and against losing versions too soon. All off by default."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from frepo_core.errors import RuleError

GuardAction = Literal["refuse", "keep"]


@dataclass(frozen=True, kw_only=True)
class Guards:
    """`min_retention`: younger versions never leave. `min_version_size` (bytes) and `max_shrink_percent` tell a
    suspicious version, which `action` refuses, or keeps without letting another go. 0 is off.
    """

    min_retention: timedelta = timedelta()
    min_version_size: int = 0
    max_shrink_percent: int = 0
    action: GuardAction = "refuse"

    def suspicion(self, size: int, previous: int | None) -> RuleError | None:
        """Return what speaks against a version of `size` bytes after one of `previous` bytes (None: the first)."""
        if size < self.min_version_size:
            return RuleError(4013, "file", "new_version_is_smaller_than_the_minimum")
        if self.max_shrink_percent and previous and size * 100 < previous * (100 - self.max_shrink_percent):
            return RuleError(4014, "file", "new_version_shrank_too_much")
        return None

    def protects(self, created_at: datetime, *, now: datetime) -> bool:
        """Tell whether a version may not leave yet; one from the future is protected, as clocks can jump."""
        return bool(self.min_retention) and now - created_at < self.min_retention


def retained() -> RuleError:
    """Make the refusal of what would let a version go that is younger than the minimal retention."""
    return RuleError(4012, "minRetention", "version_is_younger_than_the_minimal_retention")
