"""The sweep: registers bytes without a row, deletes what nothing needs, and reports rows without bytes."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import select

from frepo_core.db import Database
from frepo_core.db.clock import read_clock
from frepo_core.db.models import OBJECT_SIZE, Content, StoredObject
from frepo_core.domain.identity import By
from frepo_core.domain.structs import struct
from frepo_core.errors import BlobNotFound, SweepStoppedError
from frepo_core.plugins import BlobStat, StorageBackend

from ...content.blobs.lifecycle import Blobs
from ...content.objects.found_objects import FoundObjects
from ...content.objects.states import CURRENT, ENDED, ObjectState
from ...content.objects.uses import is_base_anywhere, is_used
from ...content.storages.backends import Backends
from ...content.storages.kept_blobs import find_kept
from ...content.storages.sweep_guard import Ownership
from ..journal.keys import find_expired
from ..reconcile.reconciliation import is_reconciled, reconcile_storage
from .orphans import BATCH, Inventory, in_batches, take_inventory, without_row
from .progress import Progress, no_progress

log = logging.getLogger(__name__)

# The bytes of an upload may wait some minutes for their row (see `BlobWrite.check_not_swept`).
SHORTEST_GRACE = timedelta(hours=1)
MAX_PERCENT = 20


@struct
class SweepReport:
    """What was found and, unless it was a dry run, deleted.

    :param blobs: the number of frepo's blobs in the storage
    :param orphans: the number of blobs without a row, and `orphan_size` their bytes
    :param older: the number of blobs without a row that are older than the first mark of this database
    :param kept: the number of blobs without a row that are kept for 30 days after an adoption
    :param left: the number of blobs without a row that were left because of those, see `sweep`
    :param unused: the number of contents that neither a file nor the trash uses
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


@struct
class SweepPlan:
    """What a sweep of a storage deletes. Blobs younger than `grace` may belong to an upload in progress, so they stay.

    The age is that by the clock of the database, or by that of the storage if it is younger then.

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
    return _Sweep(database, backends, blobs, plan, Ownership(database, backends, by=by), keep_going).run(progress)


class _Sweep:
    """One sweep: it takes the inventory, decides what may be deleted, and deletes that."""

    def __init__(
        self,
        database: Database,
        backends: Backends,
        blobs: Blobs,
        plan: SweepPlan,
        ownership: Ownership,
        keep_going: Callable[[], None],
    ) -> None:
        self._database = database
        self._backend = backends.get(plan.storage)
        self._backends = backends
        self._blobs = blobs
        self._plan = plan
        self._ownership = ownership
        self._keep_going = keep_going

    def run(self, progress: Progress) -> SweepReport:
        plan, storage = self._plan, self._plan.storage
        self._ownership.require_unused(storage)
        created_before = self._database.now() - plan.grace
        before = created_before if plan.dry_run else self._prepare(created_before)
        unused = _unused_contents(self._database, storage, created_before)
        checked = _checked_progress(progress, self._keep_going)
        found = take_inventory(self._database, self._backend, storage=storage, before=before, progress=checked)
        strangers = _find_strangers(self._database, storage, any_time=plan.deletes_unknown)
        known = self._without_kept(found.orphans)
        older = self._ownership.count_older(storage, known)
        orphans = [] if plan.leaves_older and older else known
        left = len(known) - len(orphans)
        if not plan.dry_run:
            orphans = self._delete(found, orphans, strangers, unused)
        return SweepReport(
            blobs=found.blobs,
            orphans=len(orphans) + len(strangers.due),
            orphan_size=sum(stat.size for stat in orphans) + sum(strangers.due.values()),
            older=older,
            kept=len(found.orphans) - len(known) + strangers.kept,
            left=left,
            unused=len(unused),
            leftovers=0 if plan.dry_run else self._backend.tidy(before),
            missing=list(_missing(self._database, self._backend, storage)),
            foreign=found.foreign,
            foreign_examples=found.foreign_examples,
            dispute=self._ownership.find_problem(storage, found.marks) if plan.dry_run else None,
        )

    def _prepare(self, created_before: datetime) -> datetime:
        """Raise the epoch of the mark, and reconcile an adopted storage. Return when orphans must have been stored."""
        storage = self._plan.storage
        self._ownership.raise_epoch(storage)
        if not is_reconciled(self._database, storage):
            reconcile_storage(self._database, self._backends, storage, keep_going=self._keep_going)
        return min(created_before, self._ownership.read_clock(storage) - self._plan.grace)

    def _without_kept(self, orphans: Sequence[BlobStat]) -> list[BlobStat]:
        """Return the orphans but those that are kept for 30 days after an adoption."""
        kept_from = None if self._plan.deletes_unknown else find_kept(self._database, self._plan.storage)
        return [stat for stat in orphans if kept_from is None or stat.modified > kept_from]

    def _delete(
        self, found: Inventory, orphans: Sequence[BlobStat], strangers: "_Strangers", unused: Sequence[int]
    ) -> list[BlobStat]:
        """Delete what may be deleted, unless that is too much. Return the orphans that were deleted."""
        storage, gate = self._plan.storage, self._blobs.gate
        self._ownership.confirm(storage, found.marks)
        for key in find_expired(found.journal):
            self._backend.delete(key)
        _stop_if_too_many(storage, len(orphans) + len(strangers.due) + len(unused), found.blobs, self._plan.most)
        gate.delete_due(storage, keep_going=self._keep_going)
        self._blobs.collect(unused)
        ended = _end(self._database, self._blobs, storage, orphans, self._keep_going)
        gate.delete(strangers.due, keep_going=self._keep_going)
        return ended


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


@struct
class _Strangers:
    """Objects that were found, and whose contents nothing uses: the ids and sizes of those that are due, and others."""

    due: Mapping[int, int]
    kept: int


def _find_strangers(database: Database, storage: str, *, any_time: bool) -> _Strangers:
    found = (StoredObject.storage == storage, StoredObject.state == ObjectState.FOUND.value)
    query = select(StoredObject.id, OBJECT_SIZE, StoredObject.delete_after)
    query = query.join(Content, Content.id == StoredObject.content_id).where(*found, ~is_used())
    with database.reading() as session:
        now, rows = read_clock(session), session.execute(query).all()
    due = {id_: size for id_, size, end in rows if any_time or end is None or end <= now}
    return _Strangers(due=due, kept=len(rows) - len(due))


def _end(
    database: Database, blobs: Blobs, storage: str, orphans: Sequence[BlobStat], keep_going: Callable[[], None]
) -> list[BlobStat]:
    """Register orphans that still have no row, and delete those that may be deleted; return these.

    One whose content is used, or is the base of another, stays until the gate allows it: it may be the last sound one.
    """
    found, deleted = FoundObjects(database, blobs.backends), list[BlobStat]()
    for batch in in_batches(orphans):
        keep_going()
        registered = found.register(storage, without_row(database, batch, storage), keeps=timedelta())
        for stat in batch:
            keep_going()
            if stat.key in registered:
                deleted += [stat] if blobs.gate.delete([registered[stat.key]]).objects else []
    return deleted


def _unused_contents(database: Database, storage: str, before: datetime) -> list[int]:
    """Return the contents that nothing uses and that have an object in the storage that is not about to leave."""
    with database.reading() as session:
        there = (StoredObject.content_id == Content.id, StoredObject.storage == storage)
        kept = StoredObject.state.in_([*ENDED, ObjectState.LEAVING])
        has = select(StoredObject.id).where(*there, ~kept).correlate(Content).exists()
        query = select(Content.id).where(Content.created_at < before, ~is_used(), ~is_base_anywhere(), has)
        return list(session.scalars(query))


def _missing(database: Database, backend: StorageBackend, storage: str) -> Iterator[str]:
    """Yield the keys of current objects whose bytes are missing."""
    after, states = 0, (ObjectState.PRESENT, ObjectState.DAMAGED, ObjectState.MISSING)
    while True:
        current = (StoredObject.storage == storage, StoredObject.slot == CURRENT, StoredObject.state.in_(states))
        query = select(StoredObject.id, StoredObject.key).where(*current, StoredObject.id > after)
        with database.reading() as session:
            rows = session.execute(query.order_by(StoredObject.id).limit(BATCH)).all()
        if not rows:
            return
        for row in rows:
            if _is_missing(backend, row.key) and _row_still_exists(database, row.id):
                yield row.key
        after = rows[-1].id


def _is_missing(backend: StorageBackend, key: str) -> bool:
    try:
        backend.stat(key)
    except BlobNotFound:
        return True
    return False


def _row_still_exists(database: Database, object_id: int) -> bool:
    """Return whether the object is still current. If it was replaced meanwhile, its bytes are not missing."""
    with database.reading() as session:
        return (
            session.scalar(select(StoredObject.id).where(StoredObject.id == object_id, StoredObject.slot == CURRENT))
            is not None
        )
