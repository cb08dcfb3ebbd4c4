"""Marks copies that were found to be wrong or missing, so that the job `mirror` repairs them."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Blob, BlobCopy
from frepo_core.domain.identity import By

from ...events.blob_facts import blob_damaged, copy_damaged
from ...events.recording import record
from ..chains.dependents import verify_dependents
from .states import CopyState


def mark_first(session: Session, blob_id: int, key: str, problem: str, *, by: By) -> bool:
    """Mark the first copy of a blob as damaged, with an event, unless it was moved, or is marked. Return whether."""
    query = select(Blob).where(Blob.id == blob_id, Blob.key == key, Blob.damaged_at.is_(None))
    row = session.scalar(query.with_for_update())
    if row is None:
        return False
    row.damaged_at = row.verified_at = utc_now()
    record(session, blob_damaged(session, row, problem, by=by))
    verify_dependents(session, row.id)
    return True


def mark_copy(session: Session, storage: str, key: str, problem: str, *, is_missing: bool, by: By) -> bool:
    """Mark a second copy as damaged or missing, with an event, unless that is known. Return whether it was marked."""
    query = select(BlobCopy).where(
        BlobCopy.key == key, BlobCopy.storage == storage, BlobCopy.state == CopyState.PRESENT.value
    )
    row = session.scalar(query.with_for_update())
    if row is None:
        return False
    row.state = (CopyState.MISSING if is_missing else CopyState.DAMAGED).value
    row.error = problem
    row.wanted_at = row.next_try = row.verified_at = utc_now()
    record(session, copy_damaged(row, problem, by=by))
    return True
