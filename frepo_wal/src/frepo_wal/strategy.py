"""The strategy `wal`: nothing is evicted for a segment. The job deletes what no base backup needs."""

from collections.abc import Sequence

from pydantic import Field

from frepo_core.plugins import (
    CollectionFull,
    CollectionState,
    CollectionStrategy,
    Guards,
    IncomingVersion,
    StrategyOptions,
    StrategySpec,
    VersionInfo,
)

NAME = "wal"
# Segments have one size, and may be equal; a history has 50 bytes.
GUARDS = Guards(
    min_version_size=0,
    max_shrink_percent=0,
    max_growth_percent=0,
    max_decline_percent=0,
    expects_kind=False,
    expects_change=False,
)


class WalOptions(StrategyOptions):
    """Which base backups the segments belong to, and for how long any point in time can be restored."""

    base: str = Field("", max_length=64, description="The id of the collection with the base backups.")
    keep_days: int = Field(
        0,
        ge=0,
        le=36_500,
        description="For so many days, any point can be restored. Of older base backups only what they need for "
        "themselves is kept. 0: all segments since the oldest base backup.",
    )


class Wal(CollectionStrategy):
    """Refuses a segment for which there is no room: the primary then keeps it, and nothing is lost."""

    def make_room(self, collection: CollectionState, incoming: IncomingVersion) -> Sequence[VersionInfo]:
        """Evict nothing."""
        if collection.has_room(incoming):
            return ()
        raise CollectionFull("The limits of the collection are reached, and a strategy for WAL evicts no segment")


SPEC = StrategySpec(
    name=NAME,
    build=Wal,
    summary="keeps the segments of PostgreSQL that its base backups need",
    options=WalOptions,
    acts_only_when_full=True,
    guards=GUARDS,
)
