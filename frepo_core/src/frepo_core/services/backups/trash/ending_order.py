"""Says what in the trash may end early, and in which order.

Versions that were created last end first, because all that an attacker or a runaway script adds is younger than the
good versions. Those that a person has deleted end after all evicted ones. Bytes are freed only with the last entry that
uses them, so the entries of one blob end together, when it is the turn of the one that ends last. An entry whose bytes
a version or a file uses is passed over, and so is a locked one. The newest good version of a collection never ends in
the trash.
"""

from sqlalchemy import ColumnElement, Select, and_, case, func, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Blob, TrashEntry

from ...content.blobs.blob_use import is_used_by_file
from ..holds.locks import is_unlocked
from .last_good import select_last_good
from .removal import ON_REQUEST


def may_end(session: Session, blob_id: int | None = None) -> ColumnElement[bool]:
    """Return the condition that a blob may be deleted early. With an id, it is as fast as possible for this blob."""
    is_locked = ~is_unlocked(TrashEntry.locked_until, session)
    locked = select(TrashEntry.blob_id).where(TrashEntry.locked_until.is_not(None), is_locked)
    return ~is_used_by_file() & Blob.id.not_in(_kept_blobs(blob_id)) & Blob.id.not_in(locked)


def select_next(session: Session, storage: str, count: int) -> Select[int, int]:
    """Return a query for ids and sizes of a storage's blobs that only the trash uses, those that end first first."""
    on_request = case((TrashEntry.reason.in_([reason.value for reason in ON_REQUEST]), 1), else_=0)
    return (
        select(Blob.id, Blob.size)
        .join(TrashEntry, TrashEntry.blob_id == Blob.id)
        .where(Blob.storage == storage, may_end(session))
        .group_by(Blob.id, Blob.size)
        .order_by(func.max(on_request), func.min(TrashEntry.created_at).desc(), Blob.id.desc())
        .limit(count)
    )


def measure_size(session: Session, storage: str) -> int:
    """Return how many bytes in a storage are freed if all ends that may end."""
    is_in_trash = select(TrashEntry.id).where(TrashEntry.blob_id == Blob.id).exists()
    query = select(func.sum(Blob.size)).where(Blob.storage == storage, is_in_trash, may_end(session))
    return int(session.scalar(query) or 0)


def _kept_blobs(blob_id: int | None) -> Select[int]:
    """Return a query for the blobs of versions in the trash that are the newest good one of their collection."""
    of_blob = select(TrashEntry.incarnation).where(TrashEntry.blob_id == blob_id)
    newest = select_last_good(*([] if blob_id is None else [TrashEntry.incarnation.in_(of_blob)])).subquery()
    is_newest = and_(TrashEntry.incarnation == newest.c.incarnation, TrashEntry.number == newest.c.number)
    return select(TrashEntry.blob_id).join(newest, is_newest)
