"""Finds what belongs to nobody: bytes without a row, rows that nothing uses, and rows without bytes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob, File
from frepo_core.domain.naming import digest_in_key
from frepo_core.errors import BlobNotFound
from frepo_core.plugins import BlobStat, StorageBackend

from ..blobs import Blobs
from ..storages import Storages
from .progress import Progress, batches, count_blobs, silent

BATCH = 500
AROUND_ITS_ROW = timedelta(hours=1)  # bytes are stored before their row is made, by another clock


@dataclass(frozen=True, kw_only=True)
class SweepReport:
    """What was found, and removed unless it was a dry run.

    `orphans` and `orphan_size`: bytes without a row; `unused`: rows without a user; `leftovers`: parts of puts
    that never ended; `missing`: keys of rows whose bytes are gone, which are reported only.
    """

    orphans: int
    orphan_size: int
    unused: int
    leftovers: int
    missing: Sequence[str]


def sweep(
    database: Database,
    storages: Storages,
    blobs: Blobs,
    *,
    storage: str,
    grace: timedelta,
    dry_run: bool = False,
    progress: Progress = silent,
) -> SweepReport:
    """Sweep one storage. What is younger than the grace may belong to an upload that is under way, and stays."""
    before = utc_now() - grace
    backend = storages.get(storage)
    unused = _unused_rows(database, before)
    if not dry_run:
        blobs.collect(unused)
    orphans, orphan_size = 0, 0
    listed = _told(backend.list(), count_blobs(database, Blob.storage == storage), progress)
    for stat in _orphans(database, listed, storage, before):
        orphans, orphan_size = orphans + 1, orphan_size + stat.size
        if not dry_run:
            backend.delete(stat.key)
    return SweepReport(
        orphans=orphans,
        orphan_size=orphan_size,
        unused=len(unused),
        leftovers=0 if dry_run else backend.tidy(before),
        missing=list(_missing(database, backend, storage)),
    )


def _told(listed: Iterator[BlobStat], total: int, progress: Progress) -> Iterator[BlobStat]:
    for done, stat in enumerate(listed, start=1):
        yield stat
        progress(done=done, total=total, size=stat.size)


def _unused_rows(database: Database, before: datetime) -> list[int]:
    with database.reading() as session:
        used = select(File.id).where(File.blob_id == Blob.id).exists()
        return list(session.scalars(select(Blob.id).where(Blob.created_at < before, ~used)))


def _orphans(database: Database, listed: Iterator[BlobStat], storage: str, before: datetime) -> Iterator[BlobStat]:
    """Go through the keys that no row names, but for those that a migration left behind for its `--purge`."""
    old = (stat for stat in listed if stat.modified < before)
    for batch in batches(old, BATCH):
        with database.reading() as session:
            query = select(Blob.key).where(Blob.storage == storage, Blob.key.in_([stat.key for stat in batch]))
            known = set(session.scalars(query))
            moved = _moved_away(session, storage, [stat.key for stat in batch if stat.key not in known])
        for stat in batch:
            left = moved.get(digest_in_key(stat.key) or "")
            if stat.key not in known and not (left and stat.modified <= left + AROUND_ITS_ROW):
                yield stat


def _moved_away(session: Session, storage: str, keys: Sequence[str]) -> dict[str, datetime]:
    """Return the digests of contents whose rows are in another storage by now, and when those rows were made.

    What was stored about then is the first home of the content; a copy that a migration left unfinished is younger.
    """
    digests = [digest for key in keys if (digest := digest_in_key(key))]
    query = select(Blob.digest, Blob.created_at).where(Blob.storage != storage, Blob.digest.in_(digests))
    return {row.digest: row.created_at for row in session.execute(query)}


def _missing(database: Database, backend: StorageBackend, storage: str) -> Iterator[str]:
    """Go through the keys of rows whose bytes are not there."""
    after = 0
    while True:
        with database.reading() as session:
            query = select(Blob.id, Blob.key).where(Blob.storage == storage, Blob.id > after)
            rows = session.execute(query.order_by(Blob.id).limit(BATCH)).all()
        if not rows:
            return
        for row in rows:
            if _is_gone(backend, row.key) and _still_there(database, row.id, row.key):
                yield row.key
        after = rows[-1].id


def _is_gone(backend: StorageBackend, key: str) -> bool:
    try:
        backend.stat(key)
    except BlobNotFound:
        return True
    return False


def _still_there(database: Database, blob_id: int, key: str) -> bool:
    """Look again: a row that was deleted since it was read misses nothing."""
    with database.reading() as session:
        return session.scalar(select(Blob.id).where(Blob.id == blob_id, Blob.key == key)) is not None
