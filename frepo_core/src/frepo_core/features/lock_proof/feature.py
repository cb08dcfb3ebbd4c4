"""Proven locks: the job tries to break the lock of each storage, and Health says so if that succeeds."""

from typing import TYPE_CHECKING

from frepo_core.plugins import HealthCheck, JobContext
from frepo_core.services.composition.features import BuiltinJob, Feature, Summary, on_demand
from frepo_core.services.reports.figures import Figures

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices

    from .lock_proof import LockProofs


class LockProofServices:
    """The services of this feature."""

    def __init__(self, core: "CoreServices") -> None:
        self._core = core

    @on_demand
    def proofs(self) -> "LockProofs":
        """Try whether storages keep what is locked."""
        from .lock_proof import LockProofs

        return LockProofs(self._core.database, self._core.backends)


def prove_locks(services: "CoreServices", context: JobContext) -> Summary:
    """Try the storages that are due. Raises `LockBrokenError` as long as one lets a lock be broken."""
    proofs = services.feature(LockProofServices).proofs
    found = proofs.run(now=context.now, keep_going=context.check_lease)
    proofs.check()
    not_known = {name: proof.not_known for name, proof in found.items() if proof.not_known}
    return {
        "proven": sum(1 for proof in found.values() if proof.proven_at),
        **({"not_known": not_known} if not_known else {}),
    }


def _figures(services: "CoreServices") -> Figures:
    from frepo_core.services.reports.health.core_checks import DATABASE_SECONDS

    proofs = services.feature(LockProofServices).proofs
    return Figures(
        checks=[HealthCheck(name="locks", run=proofs.check, deadline=DATABASE_SECONDS)],
        of_storage=["locks"],
    )


FEATURE = Feature(
    services=LockProofServices,
    jobs=[
        BuiltinJob(
            name="lock_proof",
            schedule="every 1h",
            lane="short",
            summary="Try whether storages keep locked versions: at the start, each week, and with each new server",
            work=prove_locks,
        )
    ],
    figures=_figures,
)
