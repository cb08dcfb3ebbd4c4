"""The guards that a plug-in chooses: for the collections of its strategy, or for one version."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from frepo_core.domain.backups.guard_values import CHECKS


@dataclass(frozen=True, kw_only=True)
class Guards:
    """Guards, with the names and the rules of `/api/v1`. None chooses nothing: what would apply otherwise applies.

    Sizes are in bytes. 0, and False, switch a guard off. Raises `TypeError` or `ValueError` for a wrong value.
    """

    min_retention: timedelta | None = None
    min_version_size: int | None = None
    max_shrink_percent: int | None = None
    max_growth_percent: int | None = None
    max_decline_percent: int | None = None
    expects_kind: bool | None = None
    expects_change: bool | None = None
    max_unchanged: timedelta | None = None
    on_suspicious: Literal["mark", "refuse", "quarantine"] | None = None

    def __post_init__(self) -> None:
        """Check the values."""
        for name, value in self.chosen().items():
            try:
                CHECKS[name](value)
            except (TypeError, ValueError) as error:
                raise type(error)(f"{name} is {value!r}. {error}") from None

    def chosen(self) -> Mapping[str, Any]:
        """Return the guards that are chosen, by name."""
        return {name: value for name, value in vars(self).items() if value is not None}
