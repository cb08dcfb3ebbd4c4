"""Lets an upload wait for its second copy: its process makes it at once, without waiting for the job `mirror`."""

import logging
from datetime import timedelta
from functools import partial

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob, BlobCopy
from frepo_core.domain.naming import new_blob_key
from frepo_core.errors import FrepoError, StorageError

from ...base.plugin_deadlines import PluginHangs, PluginThreads
from ..storages.backends import Backends
from ..storages.write_guard import Presence
from .copier import Copier, CopyTask, Outcome
from .copy_results import record_results, task_of
from .states import CopyState

log = logging.getLogger(__name__)

# The job leaves a copy alone for so long after an upload has begun to make it.
CLAIM = timedelta(minutes=10)


class CopyWaits:
    """Makes copies of new uploads, each in a thread. At most a few may take longer than their uploads wait."""

    def __init__(self, database: Database, backends: Backends, presence: Presence, wait: timedelta) -> None:
        self._database = database
        self._backends = backends
        self._presence = presence
        self._wait = wait
        self._threads = PluginThreads("frepo copying", wait.total_seconds())

    def make_copy(self, blob_id: int, storage: str) -> bool:
        """Return whether the copy is present before `mirror.wait` is over. Never raises: the upload is accepted."""
        if not self._wait or self._backends.breaker.skips(storage):
            return False
        try:
            return self._threads.call(partial(self._copy, blob_id, storage))
        except PluginHangs:
            return False
        except FrepoError as error:
            log.warning("the second copy of blob %s is left to the job mirror: %s", blob_id, error.message)
        except Exception:
            log.exception("the second copy of blob %s is left to the job mirror", blob_id)
        return False

    def _copy(self, blob_id: int, storage: str) -> bool:
        try:
            self._presence.require(storage)
        except StorageError:
            self._backends.breaker.failed(storage)
            raise
        task = self._database.write(lambda session: _claim(session, blob_id, storage))
        if task is None:
            return False
        copier = Copier(self._backends, self._presence, lambda size: None)
        result = copier.copy(task)
        for changed in record_results(self._database, [result]):
            copier.discard(changed)
            return False
        return result.outcome is Outcome.PRESENT


def _claim(session: Session, blob_id: int, storage: str) -> CopyTask | None:
    """Give the wanted copy its key, unless the job has begun to make it."""
    query = select(BlobCopy).where(
        BlobCopy.blob_id == blob_id,
        BlobCopy.storage == storage,
        BlobCopy.state == CopyState.WANTED.value,
        BlobCopy.key.is_(None),
    )
    row = session.scalar(query.with_for_update())
    blob = session.get(Blob, blob_id)
    if row is None or blob is None or blob.base_id is not None:  # the copy of a delta waits for that of its base
        return None
    row.key, row.next_try = new_blob_key(row.digest), utc_now() + CLAIM
    return task_of(session, row, blob, row.key)
