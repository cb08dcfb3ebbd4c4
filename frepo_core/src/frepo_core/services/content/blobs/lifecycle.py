"""The life of blobs: stored once per content, used by files and by the trash, deleted when no longer used."""

import logging
from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Blob
from frepo_core.domain.identity import By
from frepo_core.errors import DatabaseUnavailableError, StorageFull, StorageUnavailable

from ...base.records import BlobRecord
from ...events.storage_states import StorageStates
from ..held_bytes import HeldBytes
from ..ingest import Content
from ..storages.backends import Backends
from ..storages.patience import Patience
from ..storages.presence import Presence
from .blob_use import is_used
from .blob_write import BlobVanishedError, BlobWrite, find_location
from .failpoints import hit

log = logging.getLogger(__name__)

Result = TypeVar("Result")

STORE_ATTEMPTS = 5


class Room(Protocol):
    """Whether a content may use the room in the storage, and how it gets more."""

    def check(self, size: int) -> None:
        """Raise `StorageFull` if the storage must not have `size` bytes more, before they are stored; 0 afterwards."""

    def make(self, size: int) -> bool:
        """Make room after the storage refused `size` bytes as full; return whether there is more."""


class Blobs:
    """Stores and deletes blobs. No transaction is open while bytes are transferred."""

    def __init__(
        self,
        database: Database,
        backends: Backends,
        presence: Presence,
        states: StorageStates,
        held: HeldBytes,
    ) -> None:
        self._database = database
        self._backends = backends
        self._presence = presence
        self._states = states
        self._patience = Patience()
        self._held = held

    def is_known(self, content: Content) -> bool:
        """Return whether a blob has this content, sound or not."""
        return find_location(self._database, content) is not None

    def store(
        self,
        content: Content,
        work: Callable[[Session, BlobRecord], Result],
        *,
        by: By,
        room: Room,
        is_new: bool = False,
        may_make: Callable[[], bool] = lambda: False,
        around: Callable[[Callable[[], Result]], Result] = lambda transact: transact(),
    ) -> Result:
        """Store the content unless a sound blob has it, then run `work` with the blob in one transaction.

        After a conflict only the transaction is tried again. If `work` raises, the stored bytes are deleted. If the
        blob is deleted before the transaction can use it, the content is stored again. `is_new` says that the caller
        has just seen that no blob has this content. `may_make` is
        called before it makes room; it raises what `work` would refuse the content with, so that nothing in the trash
        ends for an upload that is refused. `around` calls the transaction, perhaps several times.
        """
        new_write = BlobWrite(
            content, self._database, self._backends, self._presence, by, is_new=is_new, check_room=room.check
        )
        with self._held.storing(content.size), new_write as blob_write:

            def write(session: Session) -> Result:
                blob = blob_write.upsert_row(session)
                hit("blob_row_written")
                result = work(session, blob)
                hit("rows_written")
                blob_write.check_not_swept()
                return result

            for _ in range(STORE_ATTEMPTS):
                self._ensure_stored(blob_write, content, by, room, may_make)
                try:
                    result = around(lambda: self._database.write(write, watch=blob_write.watch))
                    hit("committed")
                    return result
                except BlobVanishedError:
                    continue
                except StorageFull:  # the database may be on the disk of the storage
                    if blob_write.watch.outcome_is_unknown:
                        raise
                    if not (may_make() and room.make(content.size)):
                        raise
            raise DatabaseUnavailableError("Too many others write the same content, try again later")

    def _ensure_stored(
        self, blob_write: BlobWrite, content: Content, by: By, room: Room, may_make: Callable[[], bool]
    ) -> None:
        """Store the content where necessary, and record whether the storage works."""
        storage = self._backends.current
        try:
            stored = self._store_in_room(blob_write, content, room, may_make)
        except (StorageFull, StorageUnavailable) as error:
            self._presence.forget(storage)
            self._states.failed(storage, error, by=by, size=content.size)
            raise
        self._states.worked(storage, by=by, size=content.size if stored else 0)

    def _store_in_room(self, blob_write: BlobWrite, content: Content, room: Room, may_make: Callable[[], bool]) -> bool:
        """Store the content where necessary. If the storage is full, make room and try again."""
        storage = self._backends.current
        for _ in range(STORE_ATTEMPTS):
            try:
                return self._patience.wait(storage, blob_write.watched, blob_write.ensure_stored)
            except StorageFull:
                if not (may_make() and room.make(content.size)):
                    raise
        return self._patience.wait(storage, blob_write.watched, blob_write.ensure_stored)

    def collect(self, blob_ids: Iterable[int]) -> None:
        """Delete those of the blobs that no row uses: the row first, then the bytes, one transaction for each blob.

        Never raises: failures are logged, and `storage:sweep` deletes the rest. It ends if the database does not
        answer.
        """
        left = set(blob_ids)
        while left:
            blob_id = left.pop()
            try:
                self._collect(blob_id)
            except DatabaseUnavailableError as error:
                log.error(
                    "%d blobs were not collected, storage:sweep will delete them: %s", len(left) + 1, error.message
                )
                break
            except Exception:
                log.exception("blob %s was not collected, storage:sweep will delete it", blob_id)
        self._database.refill_reserve()

    def _collect(self, blob_id: int) -> None:
        hit("collect")
        found = self._database.write(lambda session: _delete_unused_row(session, blob_id), may_use_reserve=True)
        if found:
            hit("blob_row_deleted")
            storage, key = found
            self._backends.get(storage).delete(key)
            hit("collected")


def _delete_unused_row(session: Session, blob_id: int) -> tuple[str, str] | None:
    """Delete the blob's row unless it is used; return the storage and key of its bytes, or None."""
    row = session.scalar(select(Blob).where(Blob.id == blob_id).with_for_update())
    # Read after the lock: nobody begins to use the blob without it.
    if row is None or session.scalar(select(Blob.id).where(Blob.id == blob_id, is_used())):
        return None
    session.delete(row)
    return row.storage, row.key
