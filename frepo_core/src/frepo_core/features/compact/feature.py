"""Compact storage: older versions are stored as differences to newer ones."""

from typing import TYPE_CHECKING

from frepo_core.plugins import HealthCheck, JobContext
from frepo_core.services.composition.features import BuiltinJob, Feature, Summary
from frepo_core.services.reports.figures import Figures, StatusLine

from .services import CompactServices

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices
    from frepo_core.services.content.encodings import Encodings


def compact(services: "CoreServices", context: JobContext) -> Summary:
    """Store older versions as differences to newer ones, except in the hours in which uploads usually come.

    At most `compact.rate` bytes a second, in a process of low priority that takes half a core at most. An interrupted
    run is continued by the next one. What failed is in the summary, and tried again.
    """
    compaction = services.feature(CompactServices).compaction
    return compaction.run(keep_going=context.check_lease, progress=context.progress, avoids_busy_hours=True).summary()


def _figures(services: "CoreServices") -> Figures:
    from frepo_core.domain.sizes import readable_size
    from frepo_core.plugins import CompactStatus
    from frepo_core.services.backups.collections.states import Severity
    from frepo_core.services.reports.health.core_checks import DATABASE_SECONDS

    spaces = services.feature(CompactServices).spaces

    def statistics() -> dict[str, CompactStatus]:
        saved = spaces.read()
        return {"compact": CompactStatus(**vars(saved.figures), debt=saved.debt)} if saved else {}

    def lines() -> list[StatusLine]:
        """Say what compact storage saves, once it does. The health check says whether it is late."""
        found = spaces.read()
        if found is None or not (found.figures.encoded or found.figures.waiting):
            return []
        text = f"{found.figures.encoded} contents take {readable_size(found.figures.saved)} less, "
        text += f"{found.figures.waiting} wait"
        if found.debt:
            text += f"; contents that only others need take {readable_size(found.debt)}"
        return [StatusLine(subject="compact storage", severity=Severity.OK, text=text)]

    check = HealthCheck(name="compact", run=spaces.check, deadline=DATABASE_SECONDS)
    return Figures(checks=[check] if services.settings.compact else [], statistics=statistics, lines=lines)


def _encodings() -> "Encodings":
    from .decoding import CompactEncodings

    return CompactEncodings()


FEATURE = Feature(
    services=CompactServices,
    encodings=_encodings,
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
    figures=_figures,
)
