"""The services of recovery."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from frepo_core.services.composition.core_services import CoreServices

    from .journal.journal import Journal
    from .journal.objects import ObjectKind
    from .journal.seals import JournalSeals
    from .merge import Merge
    from .recovery import Recovery


class RecoveryServices:
    """The services of this feature."""

    def __init__(self, core: "CoreServices") -> None:
        self._core = core

    @cached_property
    def journal(self) -> "Journal":
        """Write the journal and the catalogues of all storages."""
        from .journal.journal import Journal

        core = self._core
        return Journal(core.database, core.backends, core.presence, self.seals, self.kinds, core.ingest.directory)

    @cached_property
    def kinds(self) -> "Sequence[ObjectKind]":
        """Return what is written and read back: the kinds of the nucleus, and those of features."""
        from .journal.objects import recovered_kinds

        return recovered_kinds(kind for feature in self._core.features for kind in feature.recovered())

    @cached_property
    def seals(self) -> "JournalSeals":
        """Show that a part is from this service."""
        from .journal.seals import JournalSeals

        return JournalSeals.of(self._core.settings)

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
        seals = None if unverified else self.seals
        return Recovery(
            core.database,
            core.backends,
            seals,
            self.kinds,
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
            self.journal,
            None if unverified else self.seals,
            storage,
            core.ingest.directory,
            notes,
            at=at,
        )
