"""Says what in the trash may end early, and in which order.

Versions that were created last end first, because all that an attacker or a runaway script adds is younger than the
good versions. Those that a person has deleted end after all evicted ones. Bytes are freed only with the last entry that
uses them, so the entries of one blob end together, when it is the turn of the one that ends last. An entry whose bytes
a version or a file uses is passed over, and so is a locked one. The newest good version of a collection never ends in
the trash. The base of a blob that may not end may not end either; if all that depends on it may, those end with it.
"""

from sqlalchemy import ColumnElement, Select, and_, case, func, or_, select
from sqlalchemy.orm import Session, aliased

from frepo_core.db.models import OBJECT_SIZE, Blob, TrashEntry

from ...content.blobs.blob_use import is_used_by_file
from ..holds.locks import is_unlocked
from .last_good import select_last_good
from .removal import ON_REQUEST


def may_end(session: Session, blob_id: int | None = None) -> ColumnElement[bool]:
    """Return the condition that a blob may be deleted early. With an id, it is as fast as possible for this blob."""
    return ~_must_stay(session, Blob, blob_id) & Blob.id.not_in(_needed_bases(session))


def _must_stay(session: Session, blob: type[Blob], blob_id: int | None = None) -> ColumnElement[bool]:
    """Return the condition that a file uses a blob, or that an entry of the trash does which may not end."""
    is_locked = ~is_unlocked(TrashEntry.locked_until, session)
    locked = select(TrashEntry.blob_id).where(TrashEntry.locked_until.is_not(None), is_locked)
    return or_(is_used_by_file(blob), blob.id.in_(_kept_blobs(blob_id)), blob.id.in_(locked))


def _needed_bases(session: Session) -> Select[int]:
    """Return a query for the bases of blobs that must stay, and for the bases of these."""
    dependent = aliased(Blob)
    direct = select(dependent.base_id).where(dependent.base_id.is_not(None), _must_stay(session, dependent))
    needed = direct.cte("needed_base", recursive=True)
    above = aliased(Blob)
    further = select(above.base_id).join(needed, above.id == needed.c.base_id).where(above.base_id.is_not(None))
    return select(needed.union(further).c.base_id)


def select_next(session: Session, storage: str, count: int) -> Select[int, int]:
    """Return a query for blobs that only the trash uses, with their stored sizes, those that end first first."""
    on_request = case((TrashEntry.reason.in_([reason.value for reason in ON_REQUEST]), 1), else_=0)
    return (
        select(Blob.id, OBJECT_SIZE)
        .join(TrashEntry, TrashEntry.blob_id == Blob.id)
        .where(Blob.storage == storage, may_end(session))
        .group_by(Blob.id, OBJECT_SIZE)
        .order_by(func.max(on_request), func.min(TrashEntry.created_at).desc(), Blob.id.desc())
        .limit(count)
    )


def measure_size(session: Session, storage: str) -> int:
    """Return how many bytes in a storage are freed if all ends that may end."""
    is_in_trash = select(TrashEntry.id).where(TrashEntry.blob_id == Blob.id).exists()
    query = select(func.sum(OBJECT_SIZE)).where(Blob.storage == storage, is_in_trash, may_end(session))
    return int(session.scalar(query) or 0)


def _kept_blobs(blob_id: int | None) -> Select[int]:
    """Return a query for the blobs of versions in the trash that are the newest good one of their collection."""
    of_blob = select(TrashEntry.incarnation).where(TrashEntry.blob_id == blob_id)
    newest = select_last_good(*([] if blob_id is None else [TrashEntry.incarnation.in_(of_blob)])).subquery()
    is_newest = and_(TrashEntry.incarnation == newest.c.incarnation, TrashEntry.number == newest.c.number)
    return select(TrashEntry.blob_id).join(newest, is_newest)
