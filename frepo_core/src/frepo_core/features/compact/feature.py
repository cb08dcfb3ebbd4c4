"""Compact storage: older versions are stored as differences to newer ones."""

from typing import TYPE_CHECKING

from frepo_core.plugins import JobContext
from frepo_core.services.composition.features import BuiltinJob, Feature, Summary

from .services import CompactServices

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices


def compact(services: "CoreServices", context: JobContext) -> Summary:
    """Store older versions as differences to newer ones, except in the hours in which uploads usually come.

    At most `compact.rate` bytes a second, in a process of low priority that takes half a core at most. An interrupted
    run is continued by the next one. What failed is in the summary, and tried again.
    """
    compaction = services.feature(CompactServices).compaction
    return compaction.run(keep_going=context.check_lease, progress=context.progress, avoids_busy_hours=True).summary()


COMPACT = Feature(
    services=CompactServices,
    jobs=[
        BuiltinJob(
            name="compact",
            schedule="every 1h",
            lane="compact",
            summary="Store older versions as differences to newer ones",
            work=compact,
            is_on=lambda services: services.settings.compact,
        )
    ],
)
