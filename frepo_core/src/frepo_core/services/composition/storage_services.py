"""The services for several storages: the journal."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from .file_services import FileServices

if TYPE_CHECKING:
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
