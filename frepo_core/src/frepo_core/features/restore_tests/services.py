"""The services of restore tests."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices

    from .nightly_tests import NightlyTests
    from .restore_tests import RestoreTests


class RestoreTestServices:
    """The services of this feature."""

    def __init__(self, core: "CoreServices") -> None:
        self._core = core

    @cached_property
    def tests(self) -> "RestoreTests":
        """Test one version."""
        from .restore_tests import RestoreTests

        core = self._core
        return RestoreTests(core.settings, core.versions, core.stored_content, core.late_results, core.mask)

    @cached_property
    def nightly_tests(self) -> "NightlyTests":
        """Test one version of each collection."""
        from .nightly_tests import NightlyTests

        core = self._core
        return NightlyTests(core.database, core.settings, core.collections, self.tests)
