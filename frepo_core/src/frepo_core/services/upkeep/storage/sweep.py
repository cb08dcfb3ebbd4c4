"""The sweep: deletes bytes without a row and blob rows that nothing uses, and reports rows without bytes."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob
from frepo_core.domain.identity import By
from frepo_core.errors import BlobNotFound, BlobRetained, SweepStoppedError
from frepo_core.plugins import BlobStat, StorageBackend

from ...content.blobs.blob_use import is_used
from ...content.blobs.lifecycle import Blobs
from ...content.chains.replaced_objects import delete_replaced
from ...content.storages.backends import Backends
from ...content.storages.kept_blobs import find_kept
from ...content.storages.sweep_guard import Ownership
from ..journal.kept_parts import find_expired
from .orphans import BATCH, in_batches, take_inventory, without_row
from .progress import Progress, no_progress

log = logging.getLogger(__name__)

# The bytes of an upload may wait some minutes for their row (see `BlobWrite.check_not_swept`).
SHORTEST_GRACE = timedelta(hours=1)
MAX_PERCENT = 20


@dataclass(frozen=True, kw_only=True)
class SweepReport:
    """What was found and, unless it was a dry run, deleted.

    :param blobs: the number of frepo's blobs in the storage
    :param orphans: the number of blobs without a row, and `orphan_size` their bytes
    :param older: the number of blobs without a row that are older than the first mark of this database
    :param kept: the number of blobs without a row that are kept for 30 days after an adoption
    :param left: the number of blobs without a row that were left because of those, see `sweep`
    :param unused: the number of blob rows that neither a file nor the trash uses
    :param leftovers: the number of unfinished uploads that the backend deleted
    :param missing: the keys of rows whose bytes are missing; they are only reported
    :param foreign: the number of files that frepo cannot have stored, which are never touched
    :param dispute: in a dry run, why a sweep would refuse the storage as not (only) this database's, or None
    """

    blobs: int
    orphans: int
    orphan_size: int
    older: int
    kept: int
    left: int
    unused: int
    leftovers: int
    missing: Sequence[str]
    foreign: int
    foreign_examples: Sequence[str]
    dispute: str | None = None


def check_grace(grace: timedelta) -> timedelta:
    """Return the grace period. Raises `ValueError` if it is shorter than an upload may wait for its row."""
    if grace < SHORTEST_GRACE:
        raise ValueError("at least 1h: the bytes of an upload that waits for the database look like an orphan")
    return grace


@dataclass(frozen=True, kw_only=True)
class SweepPlan:
    """What a sweep of a storage deletes. Blobs younger than `grace` may belong to an upload in progress, so they stay.

    `leaves_older` is for sweeps that no person has decided: if there are blobs without a row that are older than the
    first mark of this database, a neighbour that leaves no marks may store its blobs here, so none without a row is
    deleted. A storage that was adopted has no such blobs.

    `deletes_unknown` also deletes what is kept for 30 days after an adoption. `most` limits the number of deleted
    blobs; None: 20 % of all blobs.
    """

    storage: str
    grace: timedelta
    dry_run: bool = False
    leaves_older: bool = False
    deletes_unknown: bool = False
    most: int | None = None


def sweep(
    database: Database,
    backends: Backends,
    blobs: Blobs,
    plan: SweepPlan,
    *,
    progress: Progress = no_progress,
    keep_going: Callable[[], None] = lambda: None,
    by: By = None,
) -> SweepReport:
    """Sweep one storage. `keep_going` is called before each step; it ends the sweep by an exception.

    Raises `StorageDisputedError` and deletes nothing if the storage may hold blobs of others, see `ownership`. If more
    than `plan.most` blobs would be deleted, raises `SweepStoppedError` and deletes nothing: the database may be empty
    or older than the storage. Raises `ConfigurationError` if another storage keeps its blobs in this one. `by` is who
    sweeps, for the event about that.
    """
    storage, dry_run = plan.storage, plan.dry_run
    before, backend = utc_now() - plan.grace, backends.get(storage)
    ownership = Ownership(database, backends, by=by)
    ownership.require_unused(storage)
    if not dry_run:
        ownership.raise_epoch(storage)
    unused = _unused_rows(database, storage, before)
    found = take_inventory(
        database, backend, storage=storage, before=before, progress=_checked_progress(progress, keep_going)
    )
    kept_from = None if plan.deletes_unknown else find_kept(database, storage)
    known = [stat for stat in found.orphans if kept_from is None or stat.modified > kept_from]
    older = ownership.count_older(storage, known)
    orphans = [] if plan.leaves_older and older else known
    left = len(known) - len(orphans)
    if not dry_run:
        ownership.confirm(storage, found.marks)
        for key in find_expired(found.journal):
            backend.delete(key)
        _stop_if_too_many(storage, len(orphans) + len(unused), found.blobs, plan.most)
        delete_replaced(database, backends, blobs.presence, storage, keep_going=keep_going)
        blobs.collect(unused)
        orphans = _delete(database, backend, storage, orphans, keep_going)
    return SweepReport(
        blobs=found.blobs,
        orphans=len(orphans),
        orphan_size=sum(stat.size for stat in orphans),
        older=older,
        kept=len(found.orphans) - len(known),
        left=left,
        unused=len(unused),
        leftovers=0 if dry_run else backend.tidy(before),
        missing=list(_missing(database, backend, storage)),
        foreign=found.foreign,
        foreign_examples=found.foreign_examples,
        dispute=ownership.find_problem(storage, found.marks) if dry_run else None,
    )


def _checked_progress(progress: Progress, keep_going: Callable[[], None]) -> Progress:
    """Return a function that checks whether the sweep may go on, and then reports the progress."""

    def report(*, done: int, total: int, size: int) -> None:
        keep_going()
        progress(done=done, total=total, size=size)

    return report


def _stop_if_too_many(storage: str, count: int, total: int, most: int | None) -> None:
    if count > most if most is not None else count * 100 > total * MAX_PERCENT:
        raise SweepStoppedError(
            f"The sweep would delete {count} of {total} blobs in the storage {storage!r}, and was stopped: nothing was "
            "deleted. An empty, old or wrong database makes all blobs look unused. Check database.url, and look at "
            f"the report of --dry-run. If it is right, confirm the number: --yes-delete {count}"
        )


def _delete(
    database: Database,
    backend: StorageBackend,
    storage: str,
    orphans: Sequence[BlobStat],
    keep_going: Callable[[], None],
) -> list[BlobStat]:
    """Delete the orphans that still have no row; return those."""
    deleted: list[BlobStat] = []
    for batch in in_batches(orphans):
        for stat in without_row(database, batch, storage):
            keep_going()
            try:
                backend.delete(stat.key)
            except BlobRetained as error:
                log.info("the blob %s waits for its deletion: %s", stat.key, error.message)
            else:
                deleted.append(stat)
    return deleted


def _unused_rows(database: Database, storage: str, before: datetime) -> list[int]:
    with database.reading() as session:
        query = select(Blob.id).where(Blob.storage == storage, Blob.created_at < before, ~is_used())
        return list(session.scalars(query))


def _missing(database: Database, backend: StorageBackend, storage: str) -> Iterator[str]:
    """Yield the keys of rows whose bytes are missing."""
    after = 0
    while True:
        with database.reading() as session:
            query = select(Blob.id, Blob.key).where(Blob.storage == storage, Blob.id > after)
            rows = session.execute(query.order_by(Blob.id).limit(BATCH)).all()
        if not rows:
            return
        for row in rows:
            if _is_missing(backend, row.key) and _row_still_exists(database, row.id, row.key):
                yield row.key
        after = rows[-1].id


def _is_missing(backend: StorageBackend, key: str) -> bool:
    try:
        backend.stat(key)
    except BlobNotFound:
        return True
    return False


def _row_still_exists(database: Database, blob_id: int, key: str) -> bool:
    """Return whether the row still names the key. If it was deleted meanwhile, its bytes are not missing."""
    with database.reading() as session:
        return session.scalar(select(Blob.id).where(Blob.id == blob_id, Blob.key == key)) is not None
