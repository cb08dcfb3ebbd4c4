"""The services for several storages: the journal."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from .file_services import FileServices

if TYPE_CHECKING:
    from ..upkeep.journal.journal import Journal
    from ..upkeep.journal.objects import ObjectKind
    from ..upkeep.journal.seals import JournalSeals


@dataclass(frozen=True, kw_only=True)
class StorageServices(FileServices):
    """What keeps the contents in more than one place."""

    @cached_property
    def journal(self) -> "Journal":
        from ..upkeep.journal.journal import Journal

        return Journal(
            self.database,
            self.backends,
            self.presence,
            self.journal_seals,
            self.recovered_kinds,
            self.ingest.directory,
        )

    @cached_property
    def recovered_kinds(self) -> "Sequence[ObjectKind]":
        from ..upkeep.journal.objects import recovered_kinds

        return recovered_kinds(kind for feature in self.features for kind in feature.recovered())

    @cached_property
    def journal_seals(self) -> "JournalSeals":
        from ..upkeep.journal.seals import JournalSeals

        return JournalSeals.of(self.settings)
