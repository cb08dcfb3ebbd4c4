"""The services of recovery."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from frepo_core.services.composition.core_services import CoreServices

    from .merge import Merge
    from .recovery import Recovery


class RecoveryServices:
    """The services of this feature."""

    def __init__(self, core: "CoreServices") -> None:
        self._core = core

    def recovery(
        self,
        storage: str,
        notes: Callable[[str], None],
        *,
        also: Sequence[str] = (),
        unverified: bool = False,
    ) -> "Recovery":
        """Return a recovery of the database from a storage, and `also` from others that have survived.

        `notes` is called with texts about the progress. With `unverified`, it also reads what has no seal of this
        service.
        """
        from .recovery import Recovery

        core = self._core
        seals = None if unverified else core.journal_seals
        return Recovery(
            core.database,
            core.backends,
            seals,
            core.recovered_kinds,
            [storage, *also],
            core.ingest.directory,
            notes,
        )

    def merge(
        self,
        storage: str,
        notes: Callable[[str], None],
        *,
        at: "datetime | None" = None,
        unverified: bool = False,
    ) -> "Merge":
        """Return what reads back from a storage what the database has lost, or what was there at a time."""
        from .merge import Merge

        core = self._core
        return Merge(
            core.database,
            core.backends,
            core.trash,
            core.journal,
            None if unverified else core.journal_seals,
            storage,
            core.ingest.directory,
            notes,
            at=at,
        )
