"""Says what the locks of collections are worth in each storage."""

from collections.abc import Iterator

from frepo_core.services.composition.container import Services

from ..lock_proof.feature import LockProofServices
from .findings import Finding, good, problem, warning


def check_locks(services: Services) -> Iterator[Finding]:
    """Yield what was found when the storages were tried. Nothing is yielded before something was locked."""
    for name, proof in services.feature(LockProofServices).proofs.read().items():
        text = f"The storage {name!r} {proof.describe()}"
        if proof.broken:
            yield problem("locks", text, "Ask its maker, or lock versions in another storage")
        elif proof.not_known:
            yield warning("locks", text, "`frepo jobs:run lock_proof` tries again")
        else:
            yield good("locks", text)
