"""Which versions a collection will keep: a simulation with its own strategy, for people, and for compact storage."""

from typing import TYPE_CHECKING

from frepo_core.services.composition.features import Feature, on_demand

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices

    from .preview import Previews


class PreviewServices:
    """The services of this feature."""

    def __init__(self, core: "CoreServices") -> None:
        self._core = core

    @on_demand
    def previews(self) -> "Previews":
        """Simulate uploads to a collection."""
        from .preview import Previews

        return Previews(self._core.database, self._core.settings, self._core.strategies)


FEATURE = Feature(
    services=PreviewServices,
    endpoints=[
        "frepo_core.features.preview.endpoints",
        "frepo_core.features.preview.expected_times",
    ],
)
