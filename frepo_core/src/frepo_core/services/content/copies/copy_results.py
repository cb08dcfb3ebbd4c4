"""Records what became of copies. Rows change in batches, one transaction each."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob, BlobCopy

from ..chains.chain_places import RAW, needs_itself
from .copier import CopyResult, CopyTask, Outcome
from .states import LACKING, CopyState

FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=30), timedelta(hours=1)
MAX_PROBLEM = 500


def record_results(database: Database, results: Sequence[CopyResult]) -> list[CopyTask]:
    """Record what became of copies. Return the tasks whose rows were changed meanwhile: their bytes are not needed."""
    return database.write(lambda session: _record(session, results, utc_now())) if results else []


def _record(session: Session, results: Sequence[CopyResult], now: datetime) -> list[CopyTask]:
    blobs = _lock_blobs(session, [result.task.blob_id for result in results if result.outcome is Outcome.PRESENT])
    query = select(BlobCopy).where(BlobCopy.id.in_([result.task.id for result in results]))
    rows = {row.id: row for row in session.scalars(query.with_for_update())}
    changed: list[CopyTask] = []
    for result in results:
        row = rows.get(result.task.id)
        if row is None or row.key != result.task.key or row.state not in {state.value for state in LACKING}:
            changed.append(result.task)
        else:
            _record_one(row, blobs.get(result.task.blob_id), result, now)
    return changed


def _lock_blobs(session: Session, blob_ids: Sequence[int]) -> dict[int, Blob]:
    """Return blobs that nobody stores in another way until the end of the transaction."""
    query = select(Blob).where(Blob.id.in_(blob_ids)).order_by(Blob.id)
    return {blob.id: blob for blob in session.scalars(query.with_for_update(read=True))}


def _record_one(row: BlobCopy, blob: Blob | None, result: CopyResult, now: datetime) -> None:
    if result.outcome is Outcome.PRESENT:
        row.state = CopyState.PRESENT.value
        row.attempts, row.error, row.next_try = 0, None, now
        row.stored_at = row.verified_at = now
        note_object(row, result.task)
        if blob is not None and blob.object_digest != row.object_digest:  # it was stored in another way meanwhile
            row.delete_after = now
    elif result.outcome is Outcome.AGAIN:
        row.key, row.next_try = None, now
    else:
        row.next_try = now + min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(row.attempts, 20))
        row.attempts += 1
        row.error = (result.problem or "")[:MAX_PROBLEM]


def note_object(row: BlobCopy, task: CopyTask) -> None:
    """Note which object the copy is."""
    row.encoding, row.base_digest = task.encoding, task.base_digest
    is_raw = task.encoding == RAW
    row.stored_size, row.stored_digest = (None, None) if is_raw else (task.size, task.digest)


def task_of(session: Session, copy: BlobCopy, blob: Blob, key: str, *, may_exist: bool = False) -> CopyTask:
    """Return the task to copy the object of a blob under this key."""
    base = None if blob.base_id is None else session.scalar(select(Blob.digest).where(Blob.id == blob.base_id))
    task = CopyTask(
        id=copy.id,
        blob_id=blob.id,
        digest=blob.object_digest,
        size=blob.object_size,
        storage=copy.storage,
        key=key,
        from_storage=blob.storage,
        from_key=blob.key,
        encoding=blob.encoding,
        base_digest=base,
        may_exist=may_exist,
    )
    if not may_exist or copy.object_digest == task.digest:
        return task
    if needs_itself(session, copy.digest, copy.base_digest, copy.storage):
        return task
    before = replace(task, digest=copy.object_digest, size=copy.object_size)
    return replace(task, as_before=replace(before, encoding=copy.encoding, base_digest=copy.base_digest))
