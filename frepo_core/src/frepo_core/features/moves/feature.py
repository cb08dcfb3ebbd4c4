"""Moves: all contents of a storage, or what a collection has, get into another storage while the service runs."""

from typing import TYPE_CHECKING

from frepo_core.plugins import JobContext
from frepo_core.services.composition.features import BuiltinJob, Feature, Summary, on_demand

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices

    from .collection_move import CollectionMoves


class MoveServices:
    """The services of this feature."""

    def __init__(self, core: "CoreServices") -> None:
        self._core = core

    @on_demand
    def collections(self) -> "CollectionMoves":
        """Move collections into other storages, on request."""
        from .collection_move import CollectionMoves

        return CollectionMoves(self._core.database, self._core.blobs)


EXAMPLES = 10


def move_collections(services: "CoreServices", context: JobContext) -> Summary:
    """Move what was requested by `storage:migrate --collection`, at most `jobs.verify_rate` bytes a second.

    An interrupted run is continued by the next one. Contents that could not be moved stay where they are.
    """
    from frepo_core.services.base.rate_limit import RateLimit
    from frepo_core.services.upkeep.storage.progress import ProgressNotes

    report = services.feature(MoveServices).collections.run(
        pace=RateLimit(services.settings.jobs_verify_rate, keep_going=context.check_lease),
        progress=ProgressNotes(context.progress),
    )
    return {
        "collections": report.collections,
        "moved": report.moved,
        "size": report.size,
        "failed": len(report.failed),
        "examples": report.failed[:EXAMPLES],
    }


FEATURE = Feature(
    services=MoveServices,
    jobs=[
        BuiltinJob(
            name="migrate",
            schedule="every 10m",
            lane="long",
            summary="Move collections into other storages, on request",
            work=move_collections,
        )
    ],
    endpoints=["frepo_core.features.moves.endpoints"],
)
