"""The inventory: what is installed, how it is set, and which stored bytes are damaged."""

from typing import TYPE_CHECKING

from frepo_core.services.composition.features import Feature, on_demand

if TYPE_CHECKING:
    from frepo_core.services.composition.container import Services

    from .inventory import Inventory


class InventoryServices:
    """The services of this feature."""

    def __init__(self, core: "Services") -> None:
        self._core = core

    @on_demand
    def inventory(self) -> "Inventory":
        """List what is installed and in force."""
        from .inventory import Inventory
        from .settings_in_force import SettingsInForce

        core = self._core
        return Inventory(core, core.scheduled_jobs, SettingsInForce(core.ini, core.environment, core.mask))


FEATURE = Feature(
    services=InventoryServices,
    endpoints=[
        "frepo_core.features.inventory.v1.damage",
        "frepo_core.features.inventory.v1.storages",
        "frepo_core.features.inventory.v1.plugins",
        "frepo_core.features.inventory.v1.settings",
    ],
)
