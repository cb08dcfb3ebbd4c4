"""The services for several storages: the journal, and what each of them is worth."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from .file_services import FileServices

if TYPE_CHECKING:
    from ..reports.storage_check import StorageCheck
    from ..upkeep.journal.journal import Journal
    from ..upkeep.journal.seals import JournalSeals


@dataclass(frozen=True, kw_only=True)
class StorageServices(FileServices):
    """What keeps the contents in more than one place."""

    @cached_property
    def journal(self) -> "Journal":
        from ..upkeep.journal.journal import Journal

        return Journal(self.database, self.backends, self.presence, self.journal_seals, self.ingest.directory)

    @cached_property
    def journal_seals(self) -> "JournalSeals":
        from ..upkeep.journal.seals import JournalSeals

        return JournalSeals.of(self.settings)

    def check_storages(
        self, *, read_within: timedelta, progress: "Callable[[int], None]" = lambda contents: None
    ) -> "StorageCheck":
        """Return what each storage promises, can decode and has read, and what its fire would cost."""
        from ..reports.storage_check import check_storages

        return check_storages(self.database, self.backends, self.presence, read_within=read_within, progress=progress)
