"""A strategy for frepo that keeps one version for each day, under two names."""

from collections.abc import Sequence

from frepo_core.plugins import (
    CollectionState,
    CollectionStrategy,
    IncomingVersion,
    StrategySpec,
    VersionInfo,
    hookimpl,
)


class OneEachDay(CollectionStrategy):
    """Evicts the versions of the day of the new one, although there is room."""

    def make_room(self, collection: CollectionState, incoming: IncomingVersion) -> Sequence[VersionInfo]:
        """Choose the versions of the same day (UTC)."""
        return [one for one in collection.versions if one.created_at.date() == incoming.created_at.date()]


@hookimpl
def frepo_strategies() -> list[StrategySpec]:
    """Provide `one_each_day`, and the same with the field that the second release candidate asked for."""
    return [
        StrategySpec(name="one_each_day", build=OneEachDay),
        StrategySpec(name="one_each_day_at_most", build=OneEachDay, may_evict_all=True),
    ]
