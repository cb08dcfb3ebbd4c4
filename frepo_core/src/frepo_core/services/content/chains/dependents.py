"""What depends on a blob: those that are stored as the difference to it, and what a change of it means for them."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Row, bindparam, select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob, BlobCopy
from frepo_core.errors import BlobNotFound

from ..copies.states import CopyState
from ..storages.backends import Backends
from .chain_places import RAW

_BLOB = Blob.__table__
_BASE = select(
    _BLOB.c.storage, _BLOB.c.key, _BLOB.c.damaged_at, _BLOB.c.size, _BLOB.c.stored_size, _BLOB.c.base_id
).where(_BLOB.c.id == bindparam("id"))


def find_dependents(session: Session, blob_id: int) -> Iterator[list[int]]:
    """Yield the ids of the blobs that need a blob as their base, then of those that need these, and so on.

    Each once: while a promotion lets rows name their second copies, two of them may need each other.
    """
    level, seen = [blob_id], {blob_id}
    while level := [id_ for id_ in session.scalars(select(Blob.id).where(Blob.base_id.in_(level))) if id_ not in seen]:
        seen.update(level)
        yield level


def find_all_dependents(session: Session, blob_ids: Sequence[int]) -> dict[int, set[int]]:
    """Return the ids of all that depends on one of the blobs, directly or not, each with those that it needs."""
    needs: dict[int, set[int]] = {}
    level = seen = set(blob_ids)
    while level:
        rows = session.execute(select(Blob.id, Blob.base_id).where(Blob.base_id.in_(level))).all()
        needs |= {id_: {base, *needs.get(base, ())} for id_, base in rows if base is not None}
        level = {id_ for id_, _ in rows} - seen
        seen = seen | level
    return needs


def verify_dependents(session: Session, blob_id: int) -> None:
    """Let all that depends on a blob be verified next, because the blob was found damaged, or is sound again."""
    for ids in find_dependents(session, blob_id):
        session.execute(update(Blob).where(Blob.id.in_(ids)).values(verified_at=None))


def is_chain_there(database: Database, backends: Backends, row: Row[Any]) -> bool:
    """Return whether an object and all that it needs exist with the right sizes, and none is known to be damaged.

    `row` has the columns storage, key, damaged_at, size, stored_size and base_id of a blob.
    """
    while not row.damaged_at and _is_there(backends, row):
        if row.base_id is None:
            return True
        found = database.fetch_rows(_BASE, id=row.base_id)
        if not found:  # the blob was stored in another way in this moment
            return False
        row = found[0]
    return False


def store_raw(row: Blob, key: str) -> None:
    """Let a row name bytes under another key that are not encoded."""
    row.key, row.encoding = key, RAW
    row.stored_size = row.stored_digest = row.base_id = row.expand_since = None


def outdate_copies(session: Session, blob_id: int) -> None:
    """Let the job `mirror` make the second copies again, because the blob is stored in another way."""
    of_blob = (BlobCopy.blob_id == blob_id, BlobCopy.state == CopyState.PRESENT.value)
    session.execute(update(BlobCopy).where(*of_blob).values(delete_after=utc_now()))


def _is_there(backends: Backends, row: Row[Any]) -> bool:
    try:
        found = backends.get(row.storage).stat(row.key).size
    except BlobNotFound:
        return False
    return bool(found == (row.size if row.stored_size is None else row.stored_size))
