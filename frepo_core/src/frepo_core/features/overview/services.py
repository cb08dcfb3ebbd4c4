"""The services of the overview."""

from functools import cached_property
from typing import TYPE_CHECKING

from ..compact.services import CompactServices
from ..second_copies.services import SecondCopyServices

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices

    from .badges import Badges
    from .overview import Overviews


class OverviewServices:
    """The services of this feature."""

    def __init__(self, core: "CoreServices") -> None:
        self._core = core

    @cached_property
    def overviews(self) -> "Overviews":
        """Read figures about the whole service."""
        from .overview import Overviews

        core = self._core
        copies, spaces = core.feature(SecondCopyServices).reports, core.feature(CompactServices).spaces
        return Overviews(core.database, core.backends, copies, spaces)

    @cached_property
    def badges(self) -> "Badges":
        """Make and show badges."""
        from .badges import Badges

        return Badges(self._core.settings, self._core.collections, self._core.collection_pages, self.overviews)
