"""The services for several storages: the journal, recovery, and what each of them is worth."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from .file_services import FileServices

if TYPE_CHECKING:
    from ..reports.storage_check import StorageCheck
    from ..upkeep.journal.journal import Journal
    from ..upkeep.journal.seals import JournalSeals
    from ..upkeep.recovery.merge import Merge
    from ..upkeep.recovery.recovery import Recovery


@dataclass(frozen=True, kw_only=True)
class StorageServices(FileServices):
    """What keeps the contents in more than one place."""

    @cached_property
    def journal(self) -> "Journal":
        from ..upkeep.journal.journal import Journal

        return Journal(self.database, self.backends, self.presence, self._seals, self.ingest.directory)

    @cached_property
    def _seals(self) -> "JournalSeals":
        from ..upkeep.journal.seals import JournalSeals

        return JournalSeals.of(self.settings)

    def recovery(
        self,
        storage: str,
        notes: "Callable[[str], None]",
        *,
        also: "Sequence[str]" = (),
        unverified: bool = False,
    ) -> "Recovery":
        """Return a recovery of the database from a storage, and `also` from others that have survived.

        `notes` is called with texts about the progress. With `unverified`, it also reads what has no seal of this
        service.
        """
        from ..upkeep.recovery.recovery import Recovery

        seals = None if unverified else self._seals
        return Recovery(self.database, self.backends, seals, [storage, *also], self.ingest.directory, notes)

    def merge(
        self,
        storage: str,
        notes: "Callable[[str], None]",
        *,
        at: "datetime | None" = None,
        unverified: bool = False,
    ) -> "Merge":
        """Return what reads back from a storage what the database has lost, or what was there at a time."""
        from ..upkeep.recovery.merge import Merge

        return Merge(
            self.database,
            self.backends,
            self.trash,
            self.journal,
            None if unverified else self._seals,
            storage,
            self.ingest.directory,
            notes,
            at=at,
        )

    def check_storages(
        self, *, read_within: timedelta, progress: "Callable[[int], None]" = lambda contents: None
    ) -> "StorageCheck":
        """Return what each storage promises, can decode and has read, and what its fire would cost."""
        from ..reports.storage_check import check_storages

        return check_storages(self.database, self.backends, self.presence, read_within=read_within, progress=progress)
