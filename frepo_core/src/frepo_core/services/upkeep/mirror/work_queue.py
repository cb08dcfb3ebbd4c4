"""The queue of copies to make: which are due. Rows change in batches, one transaction each."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session, aliased

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob, BlobCopy
from frepo_core.domain.naming import new_blob_key

from ...content.chains.chain_places import needs_itself
from ...content.copies.copier import CopyTask
from ...content.copies.copy_results import task_of
from ...content.copies.states import LACKING, CopyState

BATCH = 100


def claim_batch(database: Database, storage: str, but: Collection[int]) -> list[CopyTask]:
    """Return copies that are due, at most 100, the newest first, without those with these ids.

    Each gets a key of its own, which is committed before its bytes are stored: a process that is killed leaves no bytes
    that nobody knows.
    """
    with database.reading() as session:  # most of the time nothing is due, and then nobody else has to wait
        due = select(BlobCopy.id).where(
            BlobCopy.storage == storage, BlobCopy.next_try <= utc_now(), BlobCopy.id.not_in(but)
        )
        if not any(session.scalar(due.where(BlobCopy.state == state.value).limit(1)) for state in LACKING):
            return []
    return database.write(lambda session: _claim(session, storage, utc_now(), but))


def _claim(session: Session, storage: str, now: datetime, but: Collection[int]) -> list[CopyTask]:
    tasks: list[CopyTask] = []
    for state in LACKING:
        query = (
            select(BlobCopy, Blob)
            .join(Blob, Blob.id == BlobCopy.blob_id)
            .where(BlobCopy.storage == storage, BlobCopy.state == state.value, BlobCopy.next_try <= now)
            .where(BlobCopy.id.not_in(but), has_base(storage))
            .order_by(BlobCopy.next_try.desc(), BlobCopy.id.desc())
            .limit(BATCH - len(tasks))
        )
        found = [(row[0], row[1]) for row in session.execute(query.with_for_update(of=BlobCopy))]
        _take_leaving(session, storage, [(copy, blob) for copy, blob in found if copy.key is None])
        for copy, blob in found:
            if blob.storage == storage:  # the blob was moved there: it is its own copy
                _drop(session, copy, now)
            else:
                may_exist = copy.key is not None
                task = task_of(session, copy, blob, copy.key or new_blob_key(copy.digest), may_exist=may_exist)
                if not needs_itself(session, copy.digest, task.base_digest, storage):
                    copy.key = task.key
                    tasks.append(task)
    session.flush()
    return tasks


def has_base(storage: str) -> ColumnElement[bool]:
    """Return the condition that a blob needs no base, or one that has a copy in the storage."""
    base = aliased(BlobCopy)
    is_there = (base.blob_id == Blob.base_id, base.storage == storage, base.state == CopyState.PRESENT.value)
    return or_(Blob.base_id.is_(None), select(base.id).where(*is_there).correlate(Blob).exists())


def _take_leaving(session: Session, storage: str, copies: Sequence[tuple[BlobCopy, Blob]]) -> None:
    """Give the bytes of copies whose blobs were deleted to new blobs of the same object. They are read before use."""
    new = {blob.object_digest: copy for copy, blob in copies}
    digests = [blob.digest for _, blob in copies]
    query = select(BlobCopy).where(
        BlobCopy.digest.in_(digests), BlobCopy.storage == storage, BlobCopy.state == CopyState.LEAVING.value
    )
    for leaving in session.scalars(query.with_for_update()).all() if new else ():
        copy, key = new.pop(leaving.object_digest, None), leaving.key
        if copy is not None and key is not None:
            session.delete(leaving)
            session.flush()  # before another row has its key
            copy.key = key


def _drop(session: Session, copy: BlobCopy, now: datetime) -> None:
    if copy.key is None:
        session.delete(copy)
    else:
        copy.blob_id, copy.state, copy.delete_after = None, CopyState.LEAVING.value, now
