"""Repairs first copies that are marked as damaged from sound second ones."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.commit_watch import CommitWatch
from frepo_core.db.models import Blob, BlobCopy
from frepo_core.domain.identity import By
from frepo_core.domain.naming import new_blob_key
from frepo_core.errors import FrepoError, StorageError

from ...content.blobs.failpoints import hit
from ...content.copies.copier import Copier, CopyTask, Outcome
from ...content.copies.copy_check import CopyCheck
from ...content.copies.states import CopyState
from ...content.storages.backends import Backends
from ...content.storages.write_guard import Presence
from ...events.blob_facts import blob_healed
from ...events.recording import record

log = logging.getLogger(__name__)

PAGE = 100
# How long a blob is left alone after a repair has failed, in seconds.
PAUSE = 3600.0


@dataclass(kw_only=True)
class Repairs:
    """Repairs blobs, one at a time. `failed` are the ids of those that could not be repaired, and when that was."""

    database: Database
    backends: Backends
    presence: Presence
    pace: Callable[[int], None]
    keep_going: Callable[[], None]
    failed: dict[int, float] = field(default_factory=dict)
    by: By = None

    def run(self) -> int:
        """Repair what can be repaired now; return the number of blobs."""
        now = time.monotonic()
        for blob_id in [blob_id for blob_id, at in self.failed.items() if now - at > PAUSE]:
            del self.failed[blob_id]
        repaired = 0
        while rows := self._page():
            for row in rows:
                self.keep_going()
                if self._repair(row):
                    repaired += 1
                else:
                    self.failed[row.id] = now
        return repaired

    def _page(self) -> list[Row[Any]]:
        query = (
            select(Blob.id, Blob.digest, Blob.size, Blob.storage, Blob.key)
            .add_columns(BlobCopy.storage.label("from_storage"), BlobCopy.key.label("from_key"))
            .join(BlobCopy, BlobCopy.blob_id == Blob.id)
            .where(Blob.damaged_at.is_not(None), BlobCopy.state == CopyState.PRESENT.value)
            .where(Blob.id.not_in(self.failed))
            .order_by(Blob.id)
            .limit(PAGE)
        )
        with self.database.reading() as session:
            return list(session.execute(query))

    def _repair(self, row: Row[Any]) -> bool:
        """Store the bytes of the second copy under a fresh key, read them back, and let the blob's row name them."""
        task = CopyTask(
            id=row.id,
            blob_id=row.id,
            digest=row.digest,
            size=row.size,
            storage=row.storage,
            key=new_blob_key(row.digest),
            from_storage=row.from_storage,
            from_key=row.from_key,
        )
        copier, watch, switched = Copier(self.backends, self.presence, self.pace), CommitWatch(), False
        try:
            self.presence.require(task.storage)
            result = copier.copy(task)
            if result.outcome is Outcome.PRESENT:
                switched = self.database.write(lambda session: self._switch(session, row, task.key), watch=watch)
            else:
                log.warning("the blob %s was not repaired from %s: %s", row.id, row.from_storage, result.problem)
                self._doubt_source(row, result.outcome)
        except StorageError as error:
            log.warning("the blob %s was not repaired: %s", row.id, error.message)
        finally:
            if not switched and not watch.outcome_is_unknown:
                copier.discard(task)
        if switched:
            hit("first_repaired")
            log.warning("the blob %s was repaired from its copy in %s", row.id, row.from_storage)
            self._delete_old(row)
        return switched

    def _switch(self, session: Session, seen: Row[Any], key: str) -> bool:
        blob = session.scalar(select(Blob).where(Blob.id == seen.id, Blob.key == seen.key).with_for_update())
        if blob is None:
            return False
        blob.key, blob.verified_at, blob.damaged_at = key, utc_now(), None
        record(session, blob_healed(session, blob, by=self.by))
        return True

    def _doubt_source(self, row: Row[Any], outcome: Outcome) -> None:
        """Read a second copy that could not be copied, and mark it if it is wrong."""
        if outcome is Outcome.SOURCE_FAILED:
            check = CopyCheck(self.database, self.backends, self.presence, pace=self.pace, by=self.by)
            check.check(storage=row.from_storage, key=row.from_key, digest=row.digest, size=row.size)

    def _delete_old(self, row: Row[Any]) -> None:
        try:
            self.backends.get(row.storage).delete(row.key)
        except FrepoError as error:
            log.warning("the damaged blob %s was not deleted, storage:sweep will: %s", row.key, error.message)
