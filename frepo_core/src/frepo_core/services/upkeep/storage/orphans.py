"""Finds orphans: blobs of a storage that no row names. Files that frepo cannot have stored are never included."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import select

from frepo_core.db import Database
from frepo_core.db.models import StoredObject
from frepo_core.domain.naming import is_journal_key, parse_digest_in_key, printable
from frepo_core.plugins import BlobStat, StorageBackend

from ...base.batches import batches
from ...content.storages.owner_mark import OwnerMark
from .progress import Progress, count_objects

BATCH = 500
EXAMPLES = 10


@dataclass(kw_only=True)
class Inventory:
    """The contents of a storage: the number of frepo's blobs, the orphans of them, owners' marks, foreign files.

    `journal` has the keys of the journal and of the catalogues.
    """

    blobs: int = 0
    orphans: list[BlobStat] = field(default_factory=list)
    marks: list[OwnerMark] = field(default_factory=list)
    journal: list[str] = field(default_factory=list)
    foreign: int = 0
    foreign_examples: list[str] = field(default_factory=list)

    def without_own_notes(self, stats: Iterable[BlobStat]) -> Iterator[BlobStat]:
        """Yield all but the owners' marks, the journal and the catalogues, which are recorded."""
        for stat in stats:
            if mark := OwnerMark.parse(stat.key):
                self.marks.append(mark)
            elif is_journal_key(stat.key):
                self.journal.append(stat.key)
            else:
                yield stat

    def add_foreign(self, key: str) -> None:
        """Count a file that frepo did not store. The first ones are kept as examples."""
        self.foreign += 1
        if len(self.foreign_examples) < EXAMPLES:
            self.foreign_examples.append(printable(key))


def take_inventory(
    database: Database, backend: StorageBackend, *, storage: str, before: datetime, progress: Progress
) -> Inventory:
    """List the storage once. Orphans are blobs without a row that were stored before `before` (UTC, aware)."""
    total = count_objects(database, StoredObject.storage == storage, StoredObject.slot.is_not(None))
    found, done = Inventory(), 0
    for batch in batches(found.without_own_notes(backend.list()), BATCH):
        own = [stat for stat in batch if parse_digest_in_key(stat.key)]
        found.blobs += len(own)
        found.orphans += without_row(database, [stat for stat in own if stat.modified < before], storage)
        for stat in batch:
            if not parse_digest_in_key(stat.key):
                found.add_foreign(stat.key)
            done += 1
            progress(done=done, total=total, size=stat.size)
    return found


def without_row(database: Database, stats: Sequence[BlobStat], storage: str) -> list[BlobStat]:
    """Return the blobs that no row names."""
    keys = [stat.key for stat in stats]
    with database.reading() as session:
        rows = select(StoredObject.key).where(StoredObject.storage == storage, StoredObject.key.in_(keys))
        known = set(session.scalars(rows))
    return [stat for stat in stats if stat.key not in known]


def in_batches(stats: Sequence[BlobStat]) -> Iterator[list[BlobStat]]:
    """Split blobs into lists that one query can look up."""
    return batches(stats, BATCH)
