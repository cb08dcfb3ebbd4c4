"""Aliases in the database. Downloads of the nucleus find them, as those of the YAML file."""

from typing import TYPE_CHECKING

from frepo_core.services.composition.features import Feature, on_demand

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices

    from .aliases import StoredAliases


class AliasServices:
    """The services of this feature."""

    def __init__(self, core: "CoreServices") -> None:
        self._core = core

    @on_demand
    def aliases(self) -> "StoredAliases":
        """List and change aliases."""
        from .aliases import StoredAliases

        return StoredAliases(self._core.database, self._core.written_aliases)


FEATURE = Feature(services=AliasServices, endpoints=["frepo_core.features.aliases.endpoints"])
