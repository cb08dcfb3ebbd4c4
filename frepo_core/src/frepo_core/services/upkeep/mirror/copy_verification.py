"""Reads second copies and compares them with their digests, as `verify` does with first ones."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from math import ceil

from sqlalchemy import ColumnElement, func, or_, select

from frepo_core.db import Database, utc_now
from frepo_core.db.models import BlobCopy
from frepo_core.domain.identity import By

from ...content.blobs.blob_reader import Damage
from ...content.copies.copy_check import CopyCheck
from ...content.copies.states import CopyState
from ...content.storages.backends import Backends
from ...content.storages.write_guard import Presence
from ..full_checks import note_full_check
from ..storage.progress import Progress, no_progress
from ..storage.verify import VerifyReport, log_damage

PAGE = 200


def verify_copies(
    database: Database,
    backends: Backends,
    storage: str,
    *,
    percent: float = 100,
    older_than: timedelta | None = None,
    progress: Progress = no_progress,
    pace: Callable[[int], None] | None = None,
    report: Callable[[Damage], None] = log_damage,
    by: By = None,
) -> VerifyReport:
    """Check `percent` of the second copies in a storage, those first that were not checked for the longest time.

    The parameters are those of `verify`. A copy that is wrong or missing is marked; the job `mirror` makes it again.
    Raises the errors of the storage, also if it is not the one it was; the results until then are kept.
    """
    started = utc_now()
    cutoff = started - older_than if older_than is not None else started
    check = CopyCheck(database, backends, Presence(database, backends), pace=pace, by=by)
    with database.reading() as session:
        due = session.scalar(select(func.count()).select_from(BlobCopy).where(*_is_due(storage, cutoff))) or 0
    total = ceil(due * percent / 100)
    checked, size, damaged = 0, 0, list[Damage]()
    for row in _oldest_first(database, storage, cutoff, total):
        problem = check.check(storage=storage, key=str(row.key), digest=row.object_digest, size=row.object_size)
        if problem is not None:
            damage = Damage(
                digest=row.digest,
                storage=storage,
                key=str(row.key),
                problem=problem.problem,
                is_marked=problem.is_marked,
            )
            report(damage)
            damaged.append(damage)
        checked, size = checked + 1, size + row.size
        progress(done=checked, total=total, size=row.size)
    if percent == 100:
        note_full_check(database, storage, started)
    return VerifyReport(checked=checked, size=size, damaged=damaged)


def _is_due(storage: str, cutoff: datetime) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions. A date in the future comes from a wrong clock."""
    return (
        BlobCopy.storage == storage,
        BlobCopy.state == CopyState.PRESENT.value,
        or_(BlobCopy.verified_at < cutoff, BlobCopy.verified_at > utc_now()),
    )


def _oldest_first(database: Database, storage: str, cutoff: datetime, total: int) -> Iterator[BlobCopy]:
    """Yield copies, a page at a time. A checked one leaves the queue, except one that could not be read."""
    seen: set[int] = set()
    stuck = 0
    while len(seen) < total:
        query = select(BlobCopy).where(*_is_due(storage, cutoff))
        query = query.order_by(BlobCopy.verified_at, BlobCopy.id).limit(PAGE + stuck)
        with database.reading() as session:
            found = list(session.scalars(query))
        rows = [row for row in found if row.id not in seen][: total - len(seen)]
        if not rows:
            return
        stuck = len(found) - len(rows)
        seen.update(row.id for row in rows)
        yield from rows
