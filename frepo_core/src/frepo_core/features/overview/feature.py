"""The overview: figures about the whole service, their history, badges, and the command `frepo status`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from frepo_core.plugins import JobContext
from frepo_core.services.composition.features import BuiltinJob, Feature, Summary, on_demand

from ..compact.feature import CompactServices
from ..second_copies.feature import SecondCopyServices

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices

    from .badges import Badges
    from .overview import Overviews


class OverviewServices:
    """The services of this feature."""

    def __init__(self, core: "CoreServices") -> None:
        self._core = core

    @on_demand
    def overviews(self) -> "Overviews":
        """Read figures about the whole service."""
        from .overview import Overviews

        core = self._core
        copies, spaces = core.feature(SecondCopyServices).reports, core.feature(CompactServices).spaces
        return Overviews(core.database, core.backends, copies, spaces)

    @on_demand
    def badges(self) -> "Badges":
        """Make and show badges."""
        from .badges import Badges

        return Badges(self._core.settings, self._core.collections, self._core.collection_pages, self.overviews)


def sample(services: "CoreServices", context: JobContext) -> Summary:
    """Record the size of each collection and of the service."""
    from .samples import take_samples

    return take_samples(services.database, services.backends, now=context.now)


def _recovered() -> Sequence[Any]:
    from frepo_core.db.models import Sample

    from ..recovery.journal.objects import kind_of

    return [kind_of("sample", Sample, "id", is_journaled=False, after="run")]


FEATURE = Feature(
    services=OverviewServices,
    jobs=[
        BuiltinJob(
            name="samples", schedule="5 0 * * *", lane="short", summary="Record the sizes of collections", work=sample
        ),
    ],
    endpoints=[
        "frepo_core.features.overview.v1.overview",
        "frepo_core.features.overview.v1.badges",
        "frepo_core.features.overview.v1.history",
        "frepo_core.features.overview.v1.space",
    ],
    recovered=_recovered,
)
