"""Makes second copies again whose blobs are stored in another way since. The old one stays until then."""

import logging
from collections.abc import Callable
from datetime import timedelta
from functools import partial

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.commit_watch import CommitWatch
from frepo_core.db.models import Blob, BlobCopy, ReplacedObject
from frepo_core.domain.naming import new_blob_key
from frepo_core.errors import BlobNotFound

from ...content.chains.chain_places import needs_itself
from ...content.chains.encoding_switch import KEPT_FOR
from ...content.copies.copier import Copier, CopyTask, Outcome
from ...content.copies.copy_results import note_object, task_of
from ...content.copies.states import CopyState
from ...content.storages.backends import Backends
from ...content.storages.write_guard import Presence
from .work_queue import has_base

log = logging.getLogger(__name__)

PAGE = 100
# After a failure, a copy is left alone for this long.
PAUSE = timedelta(hours=1)


def renew_copies(
    database: Database,
    backends: Backends,
    presence: Presence,
    storage: str,
    *,
    pace: Callable[[int], None],
    keep_going: Callable[[], None],
) -> int:
    """Renew the copies in a storage that are due; return their number. One whose base has no copy there waits."""
    copier, renewed, after = Copier(backends, presence, pace), 0, 0
    while tasks := database.write(lambda session, after=after: _find_due(session, storage, after)):  # type: ignore[misc]
        for task, old_key in tasks:
            keep_going()
            renewed += _renew(database, backends, copier, task, old_key)
        after = tasks[-1][0].id
    return renewed


def _find_due(session: Session, storage: str, after: int) -> list[tuple[CopyTask, str]]:
    """Return a page of tasks with fresh keys, and the keys of the copies that there are."""
    query = (
        select(BlobCopy, Blob)
        .join(Blob, Blob.id == BlobCopy.blob_id)
        .where(BlobCopy.storage == storage, BlobCopy.state == CopyState.PRESENT.value)
        .where(BlobCopy.delete_after <= utc_now(), BlobCopy.id > after)
        .where(func.coalesce(BlobCopy.stored_digest, BlobCopy.digest) != func.coalesce(Blob.stored_digest, Blob.digest))
        .where(Blob.damaged_at.is_(None), Blob.storage != storage, has_base(storage))
    )
    rows = session.execute(query.order_by(BlobCopy.id).limit(PAGE))
    return [(task_of(session, copy, blob, new_blob_key(copy.digest)), str(copy.key)) for copy, blob in rows]


def _renew(database: Database, backends: Backends, copier: Copier, task: CopyTask, old_key: str) -> bool:
    watch, is_used = CommitWatch(), False
    if _has_to_wait(database, task, old_key):
        return False
    try:
        result = copier.copy(task)
        if result.outcome is Outcome.PRESENT:
            is_used = database.write(partial(_use, backends, task, old_key), watch=watch)
        else:
            log.warning("the copy %s in %s was not renewed: %s", old_key, task.storage, result.problem)
            database.write(partial(_pause, task))
    finally:
        if not is_used and not watch.outcome_is_unknown:
            copier.discard(task)
    return is_used


def _has_to_wait(database: Database, task: CopyTask, old_key: str) -> bool:
    """Return whether the copy of the base has to be made again before, because it needs this content still."""
    with database.reading() as session:
        digest = session.scalar(select(BlobCopy.digest).where(BlobCopy.id == task.id, BlobCopy.key == old_key))
        return digest is None or needs_itself(session, digest, task.base_digest, task.storage)


def _use(backends: Backends, task: CopyTask, old_key: str, session: Session) -> bool:
    """Let the row of the copy name the new object, unless the copy or the blob was changed meanwhile.

    Without a row, the object was an orphan: a sweep may have deleted it while this process was suspended.
    """
    blob = session.scalar(select(Blob).where(Blob.id == task.blob_id, Blob.key == task.from_key).with_for_update())
    copy = session.scalar(select(BlobCopy).where(BlobCopy.id == task.id, BlobCopy.key == old_key).with_for_update())
    if blob is None or copy is None or copy.state != CopyState.PRESENT:
        return False
    if needs_itself(session, copy.digest, task.base_digest, copy.storage):
        return False
    try:
        backends.get(task.storage).stat(task.key)
    except BlobNotFound:
        return False
    replaced = {"storage": copy.storage, "key": old_key, "size": copy.object_size}
    copy.key, copy.delete_after = task.key, None
    note_object(copy, task)
    copy.stored_at = copy.verified_at = utc_now()
    session.flush()
    session.add(ReplacedObject(**replaced, delete_after=utc_now() + KEPT_FOR))
    return True


def _pause(task: CopyTask, session: Session) -> None:
    copy = session.get(BlobCopy, task.id)
    if copy is not None and copy.state == CopyState.PRESENT:
        copy.delete_after = utc_now() + PAUSE
