"""The services of second copies."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices

    from .copy_reports import CopyReports
    from .mirror import Mirror
    from .promotion import Promotions
    from .second_copies import SecondCopies


class SecondCopyServices:
    """The services of this feature."""

    def __init__(self, core: "CoreServices") -> None:
        self._core = core

    @cached_property
    def copies(self) -> "SecondCopies":
        """What the nucleus asks for copies."""
        from .second_copies import SecondCopies

        return SecondCopies(self._core)

    @cached_property
    def reports(self) -> "CopyReports":
        """Read how far behind the copies are."""
        from .copy_reports import CopyReports

        return CopyReports(self._core.database, self._core.backends, self._core.settings)

    @cached_property
    def mirror(self) -> "Mirror":
        """Make and delete copies."""
        from .mirror import Mirror

        core = self._core
        return Mirror(core.database, core.backends, core.presence, core.storage_states, core.settings)

    @cached_property
    def promotions(self) -> "Promotions":
        """Let another storage be the first one."""
        from .promotion import Promotions

        return Promotions(self._core.database, self._core.blobs)
