"""Repairs first copies that are marked as damaged from sound second ones."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.commit_watch import CommitWatch
from frepo_core.db.models import Blob, BlobCopy
from frepo_core.domain.identity import By
from frepo_core.domain.naming import new_blob_key
from frepo_core.errors import FrepoError, StorageError

from ...content.blobs.blob_damage import UnreadableError
from ...content.blobs.failpoints import hit
from ...content.chains.chain_places import RAW, needs_itself
from ...content.chains.dependents import outdate_copies, store_raw, verify_dependents
from ...content.copies.copier import Copier, CopyTask, Outcome
from ...content.copies.copy_check import CopyCheck
from ...content.copies.states import CopyState
from ...content.storages.backends import Backends
from ...content.storages.write_guard import Presence
from ...events.blob_facts import blob_healed
from ...events.recording import record
from ..storage.copied_blob import CopiedBlob, DamagedBlobError

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
            for blob, copy in rows:
                self.keep_going()
                if self._repair(blob, copy):
                    repaired += 1
                else:
                    self.failed[blob.id] = now
        return repaired

    def _page(self) -> list[tuple[Blob, BlobCopy]]:
        query = (
            select(Blob, BlobCopy)
            .join(BlobCopy, BlobCopy.blob_id == Blob.id)
            .where(Blob.damaged_at.is_not(None), BlobCopy.state == CopyState.PRESENT.value)
            .where(Blob.id.not_in(self.failed))
            .order_by(Blob.id)
            .limit(PAGE)
        )
        with self.database.reading() as session:
            return [(blob, copy) for blob, copy in session.execute(query)]

    def _repair(self, blob: Blob, source: BlobCopy) -> bool:
        """Repair a blob from a second copy; return whether it was."""
        if self._lacks_base(blob, source):
            return self._repair_decoded(blob, source)
        return self._repair_as_stored(blob, source)

    def _lacks_base(self, blob: Blob, source: BlobCopy) -> bool:
        """Return whether the object of the copy needs a base that it had before.

        It has no blob in the storage, or is stored as the difference to this one now.
        """
        query = select(Blob.id).where(Blob.digest == source.base_digest, Blob.storage == blob.storage)
        with self.database.reading() as session:
            return source.base_digest is not None and (
                session.scalar(query) is None or needs_itself(session, blob.digest, source.base_digest, blob.storage)
            )

    def _repair_decoded(self, blob: Blob, source: BlobCopy) -> bool:
        """Store the content raw."""
        try:
            self.presence.require(blob.storage)
            with CopiedBlob(self.database, self.backends, self.presence, source, blob.storage, self.pace) as copy:
                repaired = copy.use(self.database, lambda session: self._use_raw(session, blob, copy.key))
        except (FrepoError, OSError, DamagedBlobError, UnreadableError) as error:
            log.warning("the blob %s was not repaired from %s: %s", blob.id, source.storage, error)
            return False
        if repaired:
            self._note_repaired(blob, source)
        return repaired

    def _use_raw(self, session: Session, seen: Blob, key: str) -> bool:
        blob = session.scalar(select(Blob).where(Blob.id == seen.id, Blob.key == seen.key).with_for_update())
        if blob is None:
            return False
        store_raw(blob, key)
        outdate_copies(session, blob.id)
        self._note_sound(session, blob)
        return True

    def _repair_as_stored(self, blob: Blob, source: BlobCopy) -> bool:
        """Store the bytes of the second copy under a fresh key, read them back, and let the blob's row name them."""
        task = CopyTask(
            id=blob.id,
            blob_id=blob.id,
            digest=source.object_digest,
            size=source.object_size,
            storage=blob.storage,
            key=new_blob_key(blob.digest),
            from_storage=source.storage,
            from_key=str(source.key),
            encoding=source.encoding,
            base_digest=source.base_digest,
        )
        copier, watch, switched = Copier(self.backends, self.presence, self.pace), CommitWatch(), False
        try:
            self.presence.require(task.storage)
            result = copier.copy(task)
            if result.outcome is Outcome.PRESENT:
                switched = self.database.write(lambda session: self._switch(session, blob, task), watch=watch)
            else:
                log.warning("the blob %s was not repaired from %s: %s", blob.id, source.storage, result.problem)
                self._doubt_source(source, result.outcome)
        except StorageError as error:
            log.warning("the blob %s was not repaired: %s", blob.id, error.message)
        finally:
            if not switched and not watch.outcome_is_unknown:
                copier.discard(task)
        if switched:
            self._note_repaired(blob, source)
        return switched

    def _note_repaired(self, blob: Blob, source: BlobCopy) -> None:
        hit("first_repaired")
        log.warning("the blob %s was repaired from its copy in %s", blob.id, source.storage)
        self._delete_old(blob)

    def _switch(self, session: Session, seen: Blob, task: CopyTask) -> bool:
        blob = session.scalar(select(Blob).where(Blob.id == seen.id, Blob.key == seen.key).with_for_update())
        if blob is None or not store_copied(session, blob, task):
            return False
        self._note_sound(session, blob)
        return True

    def _note_sound(self, session: Session, blob: Blob) -> None:
        blob.verified_at, blob.damaged_at = utc_now(), None
        verify_dependents(session, blob.id)
        record(session, blob_healed(session, blob, by=self.by))

    def _doubt_source(self, source: BlobCopy, outcome: Outcome) -> None:
        """Read a second copy that could not be copied, and mark it if it is wrong."""
        if outcome is Outcome.SOURCE_FAILED:
            check = CopyCheck(self.database, self.backends, self.presence, pace=self.pace, by=self.by)
            place = {"storage": source.storage, "key": str(source.key)}
            check.check(**place, digest=source.object_digest, size=source.object_size)

    def _delete_old(self, blob: Blob) -> None:
        try:
            self.backends.get(blob.storage).delete(blob.key)
        except FrepoError as error:
            log.warning("the damaged blob %s was not deleted, storage:sweep will: %s", blob.key, error.message)


def store_copied(session: Session, blob: Blob, task: CopyTask) -> bool:
    """Let the row of a blob name an object that was copied. Return False if it needs a base that has no row there."""
    base = None
    if task.base_digest is not None:
        query = select(Blob.id).where(Blob.digest == task.base_digest, Blob.storage == task.storage)
        if (base := session.scalar(query)) is None:
            return False
        if needs_itself(session, blob.digest, task.base_digest, task.storage):
            return False
    store_raw(blob, task.key)
    if task.encoding != RAW:
        blob.encoding, blob.stored_size, blob.stored_digest = task.encoding, task.size, task.digest
        blob.base_id = base
    return True
