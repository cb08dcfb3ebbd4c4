"""A fleet in one file: `frepo apply` makes collections and tokens what the file says."""

from typing import TYPE_CHECKING

from frepo_core.services.composition.features import Feature, on_demand

from ..restore_tests.feature import RestoreTestServices

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices

    from .execution import Execution
    from .planning import Planning


class FleetServices:
    """The services of this feature."""

    def __init__(self, core: "CoreServices") -> None:
        self._core = core

    @on_demand
    def planning(self) -> "Planning":
        """Say what differs from a file, and what would be refused."""
        from .planning import Planning

        core = self._core
        choices = core.feature(RestoreTestServices).choices
        return Planning(core.database, core.settings, core.plugins, core.collections, choices)

    @on_demand
    def execution(self) -> "Execution":
        """Do what was planned."""
        from .execution import Execution

        return Execution(self._core)


FEATURE = Feature(services=FleetServices, endpoints=["frepo_core.features.fleet.endpoints"])
