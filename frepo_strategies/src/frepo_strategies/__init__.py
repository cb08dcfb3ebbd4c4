"""frepo's collection strategies."""

from frepo_core.plugins import StrategySpec, hookimpl

from .delete_oldest import DeleteOldestWhenAddingNew
from .keep import Keep, KeepOptions
from .refuse_when_full import AlertWhenBackupLimitReached

__all__ = ["AlertWhenBackupLimitReached", "DeleteOldestWhenAddingNew", "Keep", "KeepOptions", "frepo_strategies"]


@hookimpl
def frepo_strategies() -> list[StrategySpec]:
    """Register the strategies."""
    return [
        StrategySpec(
            name="delete_oldest_when_adding_new",
            build=DeleteOldestWhenAddingNew,
            summary="a full collection deletes its oldest versions",
            acts_only_when_full=True,
        ),
        StrategySpec(
            name="alert_when_backup_limit_reached",
            build=AlertWhenBackupLimitReached,
            summary="a full collection refuses new versions",
            acts_only_when_full=True,
        ),
        StrategySpec(
            name="keep",
            build=Keep,
            summary="keeps a number of daily, weekly, monthly and yearly versions, as restic does",
            options=KeepOptions,
        ),
    ]
