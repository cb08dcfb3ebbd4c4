"""Reads blobs back and compares them with their digests. Reports and notes damage, never deletes."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import Any, cast

from sqlalchemy import ColumnElement, CursorResult, and_, func, or_, select, update

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob

from ..storages import Storages
from ..sums import Sums
from .hashing import UnreadableError, damage_of
from .progress import Progress, count_blobs, silent

log = logging.getLogger(__name__)

PAGE = 200


@dataclass(frozen=True, kw_only=True)
class Damage:
    """A blob that is not what it was: its digest, its storage and key, and what is wrong."""

    digest: str
    storage: str
    key: str
    problem: str


@dataclass(frozen=True, kw_only=True)
class VerifyReport:
    """How many blobs and bytes were read, and which are damaged."""

    checked: int
    size: int
    damaged: Sequence[Damage]


def verify(
    database: Database,
    storages: Storages,
    *,
    percent: float = 100,
    older_than: timedelta | None = None,
    progress: Progress = silent,
) -> VerifyReport:
    """Check blobs, those first that nobody read for longest; `older_than` leaves out what was checked since.

    What is damaged is marked, so that the next upload of the same content stores it anew; what is sound
    again loses the mark. What cannot be read is reported and not marked. A storage that is away raises, and what
    was checked before stays noted; damage is logged at once.
    """
    started = utc_now()
    cutoff = started - older_than if older_than is not None else started
    is_due = and_(Blob.created_at <= started, or_(Blob.verified_at.is_(None), Blob.verified_at < cutoff))
    total = ceil(count_blobs(database, is_due) * percent / 100)
    checked, size, damaged = 0, 0, list[Damage]()
    for row in _oldest_first(database, is_due, total):
        try:
            sums = Sums()
            problem = damage_of(storages.get(row.storage), row.key, digest=row.digest, size=row.size, sums=sums)
            if not _note(database, row, problem, sums):
                continue  # deleted, moved or stored anew since it was listed: this says nothing about the blob
        except UnreadableError as error:
            problem = str(error)  # not noted: nobody knows what the bytes are, and the next run tries again
        if problem:
            log.error("blob %s in %s is damaged: %s", row.key, row.storage, problem)  # should the report never come
            damaged.append(Damage(digest=row.digest, storage=row.storage, key=row.key, problem=problem))
        checked += 1
        size += row.size
        progress(done=checked, total=total, size=row.size)
    return VerifyReport(checked=checked, size=size, damaged=damaged)


def _oldest_first(database: Database, is_due: ColumnElement[bool], total: int) -> Iterator[Blob]:
    """Load a page at a time: each check moves its blob to the end of the queue, but for some that others changed."""
    seen: set[int] = set()
    stuck = 0
    while len(seen) < total:
        with database.reading() as session:
            order = (func.coalesce(Blob.verified_at, Blob.created_at), Blob.id)
            query = select(Blob).where(is_due).order_by(*order).limit(min(PAGE, total - len(seen)) + stuck)
            found = session.scalars(query).all()
        rows = [row for row in found if row.id not in seen]
        if not rows and len(found) <= stuck:
            return
        stuck = len(found) - len(rows)
        seen.update(row.id for row in rows)
        yield from rows


def _note(database: Database, row: Blob, problem: str | None, sums: Sums) -> bool:
    """Note the check, and the checksum of what is sound; False for what was moved, stored anew or deleted meanwhile."""
    now = utc_now()
    change = update(Blob).where(Blob.id == row.id, Blob.key == row.key)
    sound = {} if problem else {"checksum": sums.checksum}
    values = {"verified_at": now, "damaged_at": now if problem else None, **sound}
    result = database.write(lambda session: session.execute(change.values(**values)))
    return bool(cast(CursorResult[Any], result).rowcount)
