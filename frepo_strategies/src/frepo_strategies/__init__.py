"""frepo's two collection strategies."""

from frepo_core.plugins import StrategySpec, hookimpl

from .delete_oldest import DeleteOldestWhenAddingNew
from .refuse_when_full import AlertWhenBackupLimitReached

__all__ = ["AlertWhenBackupLimitReached", "DeleteOldestWhenAddingNew", "frepo_strategies"]


@hookimpl
def frepo_strategies() -> list[StrategySpec]:
    """Register both strategies."""
    return [
        StrategySpec(
            name="delete_oldest_when_adding_new",
            build=DeleteOldestWhenAddingNew,
            summary="a full collection deletes its oldest versions",
        ),
        StrategySpec(
            name="alert_when_backup_limit_reached",
            build=AlertWhenBackupLimitReached,
            summary="a full collection refuses new versions",
        ),
    ]
