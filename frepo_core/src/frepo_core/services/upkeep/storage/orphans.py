"""Finds orphans: blobs of a storage that no row names. Files that frepo cannot have stored are never included."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Blob, BlobCopy, ReplacedObject
from frepo_core.domain.naming import is_journal_key, parse_digest_in_key, printable
from frepo_core.plugins import BlobStat, StorageBackend

from ...content.copies.states import CopyState
from ...content.storages.owner_mark import OwnerMark
from .progress import Progress, batches, count_blobs

BATCH = 500
EXAMPLES = 10
ROW_TOLERANCE = timedelta(hours=1)  # bytes are stored shortly before their row is inserted, and clocks may differ


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
    total = count_blobs(database, Blob.storage == storage)
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
    """Return the blobs that no row names, except those that a migration left in its source until `--purge`."""
    keys = [stat.key for stat in stats]
    with database.reading() as session:
        known = set(session.scalars(select(Blob.key).where(Blob.storage == storage, Blob.key.in_(keys))))
        copies = select(BlobCopy.key).where(BlobCopy.storage == storage, BlobCopy.key.in_(keys))
        known.update(key for key in session.scalars(copies) if key is not None)
        replaced = ReplacedObject.storage == storage, ReplacedObject.key.in_(keys)
        known.update(session.scalars(select(ReplacedObject.key).where(*replaced)))
        moved = _moved_away(session, storage, [key for key in keys if key not in known])
    return [stat for stat in stats if stat.key not in known and not _is_migrated_copy(stat, moved)]


def in_batches(stats: Sequence[BlobStat]) -> Iterator[list[BlobStat]]:
    """Split blobs into lists that one query can look up."""
    return batches(stats, BATCH)


def _is_migrated_copy(stat: BlobStat, moved: dict[str, datetime]) -> bool:
    made = moved.get(parse_digest_in_key(stat.key) or "")
    return made is not None and stat.modified <= made + ROW_TOLERANCE


def _moved_away(session: Session, storage: str, keys: Sequence[str]) -> dict[str, datetime]:
    """Return the digests of contents whose rows name another storage, and when those rows were inserted.

    Bytes from about that time are the original that was moved. A copy from an unfinished migration is younger. Bytes
    next to a second copy of the same content in this storage are a copy that failed.
    """
    digests = [digest for key in keys if (digest := parse_digest_in_key(key))]
    copies = select(BlobCopy.id).where(
        BlobCopy.digest == Blob.digest, BlobCopy.storage == storage, BlobCopy.state == CopyState.PRESENT.value
    )
    query = select(Blob.digest, Blob.created_at).where(
        Blob.storage != storage, Blob.digest.in_(digests), ~copies.exists()
    )
    return {row.digest: row.created_at for row in session.execute(query)}
