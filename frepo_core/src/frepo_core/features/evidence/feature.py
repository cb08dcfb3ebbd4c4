"""Evidence: reports that prove to others what was backed up, restored and deleted."""

from typing import TYPE_CHECKING

from frepo_core.services.composition.features import Feature, on_demand

from ..lock_proof.feature import LockProofServices

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices

    from .reports import Reports


class EvidenceServices:
    """The services of this feature."""

    def __init__(self, core: "CoreServices") -> None:
        self._core = core

    @on_demand
    def reports(self) -> "Reports":
        """Make reports."""
        from .reports import Reports

        core = self._core
        return Reports(core.database, core.backends, core.feature(LockProofServices).proofs, core.settings)


FEATURE = Feature(services=EvidenceServices, endpoints=["frepo_core.features.evidence.endpoints"])
