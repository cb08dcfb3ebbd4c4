"""The outbox of second copies: each transaction that begins to use a blob says that it wants one."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Blob, BlobCopy
from frepo_core.db.row_inserts import insert_of, insert_rows

from ...base.copy_count import CopyCount
from ...base.records import BlobRecord
from .states import CopyState

_INSERT = insert_of(BlobCopy)


def want_copy(session: Session, blob: BlobRecord, storage: str) -> CopyCount:
    """Insert a row for a copy of the blob in this storage, unless the blob is in it or has a row.

    Return how many sound copies there are, and how many there should be.
    """
    if blob.storage == storage:
        return CopyCount(present=1, wanted=1)
    of_blob = select(BlobCopy.state).where(BlobCopy.blob_id == blob.id, BlobCopy.storage == storage)
    state = None if blob.is_new else session.scalar(of_blob)
    if state is None:
        now = utc_now()
        insert_rows(session, _INSERT, [_wanted_row(blob.id, blob.digest, blob.size, now, storage, now)])
    return CopyCount(present=2 if state == CopyState.PRESENT else 1, wanted=2)


def want_copies(session: Session, blob_ids: Sequence[int], storage: str) -> int:
    """Do this for several blobs; return the number of inserted rows. The newest blobs are copied first."""
    copies = select(BlobCopy.id).where(BlobCopy.blob_id == Blob.id, BlobCopy.storage == storage)
    query = select(Blob.id, Blob.digest, Blob.size, Blob.created_at).where(
        Blob.id.in_(blob_ids), Blob.storage != storage, ~copies.exists()
    )
    blobs, now = session.execute(query).all(), utc_now()
    if blobs:
        insert_rows(session, _INSERT, [_wanted_row(*blob, storage, now) for blob in blobs])
    return len(blobs)


def _wanted_row(blob_id: int, digest: str, size: int, since: datetime, storage: str, now: datetime) -> dict[str, Any]:
    return {
        "blob_id": blob_id,
        "digest": digest,
        "size": size,
        "storage": storage,
        "state": CopyState.WANTED.value,
        "next_try": min(since, now),
        "wanted_at": now,
    }
