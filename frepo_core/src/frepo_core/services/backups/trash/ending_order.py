"""Says what in the trash may end early, and in which order.

Versions that were created last end first, because all that an attacker or a runaway script adds is younger than the
good versions. Those that a person has deleted end after all evicted ones. Bytes are freed only with the last entry that
uses them, so the entries of one blob end together, when it is the turn of the one that ends last. An entry whose bytes
a version or a file uses is passed over. The newest good version in the trash never ends while its collection has no
good one.
"""

from sqlalchemy import ColumnElement, Select, and_, case, func, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Blob, Collection, File, TrashEntry, Version

from ...content.blobs.blob_use import is_used_by_file
from ..verdicts import is_good
from .last_good import is_good_entry
from .removal import ON_REQUEST

_INCARNATION = func.coalesce(Collection.incarnation, Collection.id)


def may_end(blob_id: int | None = None) -> ColumnElement[bool]:
    """Return the condition that a blob may be deleted early. With an id, it is as fast as possible for this blob."""
    return ~is_used_by_file() & Blob.id.not_in(_kept_blobs(blob_id))


def select_next(storage: str, count: int) -> Select[int, int]:
    """Return a query for ids and sizes of a storage's blobs that only the trash uses, those that end first first."""
    on_request = case((TrashEntry.reason.in_([reason.value for reason in ON_REQUEST]), 1), else_=0)
    return (
        select(Blob.id, Blob.size)
        .join(TrashEntry, TrashEntry.blob_id == Blob.id)
        .where(Blob.storage == storage, may_end())
        .group_by(Blob.id, Blob.size)
        .order_by(func.max(on_request), func.min(TrashEntry.created_at).desc(), Blob.id.desc())
        .limit(count)
    )


def measure_size(session: Session, storage: str) -> int:
    """Return how many bytes in a storage are freed if all ends that may end."""
    is_in_trash = select(TrashEntry.id).where(TrashEntry.blob_id == Blob.id).exists()
    query = select(func.sum(Blob.size)).where(Blob.storage == storage, is_in_trash, may_end())
    return int(session.scalar(query) or 0)


def _kept_blobs(blob_id: int | None) -> Select[int]:
    """Return a query for the blobs of the newest good versions in the trash, of collections that hold no good one."""
    good = (
        select(TrashEntry.incarnation, func.max(TrashEntry.number).label("number"))
        .join(Blob, Blob.id == TrashEntry.blob_id)
        .where(is_good_entry(), TrashEntry.incarnation.not_in(_good_collections()))
        .group_by(TrashEntry.incarnation)
    )
    if blob_id is not None:
        of_blob = select(TrashEntry.incarnation).where(TrashEntry.blob_id == blob_id)
        good = good.where(TrashEntry.incarnation.in_(of_blob))
    newest = good.subquery()
    is_newest = and_(TrashEntry.incarnation == newest.c.incarnation, TrashEntry.number == newest.c.number)
    return select(TrashEntry.blob_id).join(newest, is_newest)


def _good_collections() -> Select[str]:
    """Return a query for the incarnations of collections that hold a good version and have a trash."""
    has_good = (
        select(Version.id)
        .join(File, File.id == Version.file_id)
        .join(Blob, Blob.id == File.blob_id)
        .where(Version.collection_id == Collection.id, is_good(), Blob.damaged_at.is_(None))
    )
    return select(_INCARNATION).where(_INCARNATION.in_(select(TrashEntry.incarnation)), has_good.exists())
