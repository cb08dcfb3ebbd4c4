"""Compact storage: older versions are stored as differences to newer ones."""

from functools import cached_property
from typing import TYPE_CHECKING

from frepo_core.plugins import HealthCheck, JobContext
from frepo_core.services.composition.features import BuiltinJob, Feature, Summary, on_demand
from frepo_core.services.reports.figures import Figures, StatusLine

from ..preview.feature import PreviewServices

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices
    from frepo_core.services.content.encodings import Encodings

    from .compact_space import CompactSpaces
    from .compaction import Compaction
    from .encoding_switch import EncodingSwitch


class CompactServices:
    """The services of this feature."""

    def __init__(self, core: "CoreServices") -> None:
        self._core = core
        self._compaction: Compaction | None = None

    @on_demand
    def spaces(self) -> "CompactSpaces":
        """Read what compact storage saves."""
        from .compact_space import CompactSpaces

        return CompactSpaces(self._core.database, self._core.backends, self._core.settings)

    @on_demand
    def switch(self) -> "EncodingSwitch":
        """Let another object take the place of the current one of a content."""
        from frepo_core.services.content.objects.supersession import KEPT_FOR

        from .encoding_switch import EncodingSwitch

        core, blobs = self._core, self._core.blobs
        return EncodingSwitch(
            core.database,
            core.backends,
            core.presence,
            core.chain_reader,
            lambda digests: blobs.collect(blobs.find_ids(digests)),
            KEPT_FOR,
        )

    @cached_property
    def requirements(self) -> None:
        """Raise `ConfigurationError` if the setting is on and the extra is missing: a process does not start then."""
        from .encodings.libraries import require_libraries

        if self._core.settings.compact:
            require_libraries()

    @property
    def compaction(self) -> "Compaction":
        """Encode, expand and forecast. It is made for the first run: a start need not import it."""
        if self._compaction is None:
            self._compaction = self._make_compaction()
        return self._compaction

    def _make_compaction(self) -> "Compaction":
        from .compaction import Compaction

        core = self._core
        previews = core.feature(PreviewServices).previews
        directory, is_restoring = core.ingest.directory, lambda: core.chain_reader.is_restoring
        return Compaction(core.database, core.blobs, self.switch, previews, core.settings, directory, is_restoring)


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
