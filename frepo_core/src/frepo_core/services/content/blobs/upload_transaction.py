"""The write path that files and versions share: the bytes first, then the rows in one short transaction."""

from abc import ABC, abstractmethod
from dataclasses import replace
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from sqlalchemy.orm import Session

from frepo_core.domain.identity import Identity
from frepo_core.errors import DatabaseUnavailableError, StorageFull, StorageUnavailable

from ...base.failpoints import hit
from ...base.idempotency import IdempotentUpload, RecordedAnswer, find_recorded_answer, record_answer
from ...base.records import BlobRecord, FileRecord
from ..ingest import Content
from ..storages.first_storage import follow, follow_promotion, hold_promotion
from .blob_write import BlobVanishedError, BlobWrite
from .lifecycle import Blobs

Written = TypeVar("Written")

ATTEMPTS = 5


class Room(Protocol):
    """Whether a content may use the room in the storage, and how it gets more."""

    def require_room(self, size: int) -> None:
        """Raise `StorageFull` if the storage must not have `size` bytes more, before they are stored; 0 afterwards."""

    def make(self, size: int) -> bool:
        """Make room after the storage refused `size` bytes as full; return whether there is more."""


class UploadTransaction(ABC, Generic[Written]):
    """One upload, from its received content to the commit. Without a commit, its context deletes what was stored.

    Call `find_recorded`, `store` and `write` within the context, in this order. Afterwards, collect the contents in
    `unused`, which perhaps nothing uses any more.
    """

    def __init__(
        self,
        blobs: Blobs,
        content: Content,
        room: Room,
        *,
        storage: str | None,
        by: Identity,
        idempotency: IdempotentUpload[Any] | None,
    ) -> None:
        """`storage` is where the content is stored, None: in the first storage."""
        self.content = content
        self.room = room
        self.by = by
        self.unused: list[int] = []
        # A recorded answer names this content, but its bytes are damaged: they are stored anew.
        self.is_repetition = False
        self._idempotency = idempotency
        self._blob: BlobRecord | None = None
        self._mirror: str | None = None
        self._blobs = blobs
        self._storage = storage
        self._blob_write = BlobWrite(
            content,
            blobs.database,
            blobs.backends,
            blobs.presence,
            by,
            storage=storage or blobs.backends.current,
            require_room=room.require_room,
            delete_objects=blobs.delete_objects,
        )

    @abstractmethod
    def write_rows(self, session: Session, blob: BlobRecord) -> Written | RecordedAnswer:
        """Write all rows of the upload, with `want_copy`. It may be called again, after a rollback.

        What it raises refuses the upload.
        """

    def refuse_early(self) -> bool:
        """Raise what `write_rows` would raise. Return whether what is in the trash may end for this upload."""
        return False

    def find_recorded(self) -> RecordedAnswer | None:
        """Return the answer that was recorded for the same Idempotency-Key, unless its bytes are damaged."""
        if self._idempotency is None:
            return None
        with self._blobs.database.reading() as session:
            recorded = find_recorded_answer(session, self._idempotency, self.content.digest, self.by)
        self.is_repetition = recorded is not None
        return None if recorded is None or recorded.is_damaged else recorded

    def store(self) -> None:
        """Store the content unless a sound blob has it. No transaction is open, however long this takes.

        If the storage is full, make room. Record whether it works. Raises `StorageFull` or `StorageUnavailable`.
        """
        try:
            self._store()
        except (StorageFull, StorageUnavailable):
            if not self._follows_promotion():
                raise
            self._store()

    def write(self) -> Written | RecordedAnswer:
        """Write the rows in one transaction. After a conflict only that is run again, and no byte is read again.

        If the blob was deleted before the transaction could use it, or the storage was changed, the content is stored
        again.
        """
        for attempt in range(ATTEMPTS):
            if attempt:
                self.store()
            try:
                written = self.transact()
            except BlobVanishedError:
                continue
            except StorageFull:  # the database may be on the disk of the storage
                if self._blob_write.watch.outcome_is_unknown or not self._make_room():
                    raise
            else:
                hit("committed")
                self._wait_for_copy()
                return written
        raise DatabaseUnavailableError("Too many others write the same content, try again later")

    def transact(self) -> Written | RecordedAnswer:
        """Run the transaction."""
        return self._blobs.database.write(self._write, watch=self._blob_write.watch)

    def find_recorded_now(self, session: Session, blob: BlobRecord) -> RecordedAnswer | None:
        """Return an answer that was recorded meanwhile, in the transaction."""
        if self._idempotency is None:
            return None
        recorded = find_recorded_answer(session, self._idempotency, self.content.digest, self.by)
        if recorded:
            self.unused = [blob.id]  # what used it may have been removed
        return recorded

    def record_answer(self, session: Session, added: object, file: FileRecord, version_id: str | None = None) -> None:
        """Record the answer for the Idempotency-Key, in the transaction."""
        if self._idempotency is not None:
            record_answer(session, self._idempotency, self.content.digest, self.by, added, file, version_id)

    def __enter__(self) -> Self:
        """Count the bytes as those of an upload without a row."""
        self._blobs.held.add(storing=self.content.size)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Delete the bytes that no row uses."""
        try:
            self._blob_write.__exit__(kind, error, traceback)
        finally:
            self._blobs.held.add(storing=-self.content.size)

    def _wait_for_copy(self) -> None:
        blob, mirror = self._blob, self._mirror
        if mirror and blob and blob.copies and blob.copies.present < blob.copies.wanted:
            blob.copies.present += self._blobs.copies.wait_for(blob.id, mirror)

    def _store(self) -> None:
        blobs, storage, size = self._blobs, self._blob_write.storage, self.content.size
        try:
            is_stored = self._store_in_room()
        except (StorageFull, StorageUnavailable) as error:
            blobs.presence.forget(storage)
            blobs.states.failed(storage, error, by=self.by, size=size)
            raise
        blobs.states.worked(storage, by=self.by, size=size if is_stored else 0)

    def _store_in_room(self) -> bool:
        for _ in range(ATTEMPTS):
            try:
                return self._transfer()
            except StorageFull:
                if not self._make_room():
                    raise
        return self._transfer()

    def _transfer(self) -> bool:
        blob_write = self._blob_write
        return self._blobs.storing_threads.wait(blob_write.storage, blob_write.watched, blob_write.ensure_stored)

    def want_copy(self, session: Session, blob: BlobRecord, mirror: str | None) -> BlobRecord:
        """Note in the transaction that the content wants a second copy; return the blob, which knows how many it has.

        `mirror` is what its collection has chosen, None: that of the service.
        """
        self._mirror = self._blobs.backends.mirror_for(mirror)
        if self._mirror is not None:
            wanted = self._blobs.copies.want(session, blob, self._mirror, self._blob_write.current)
            blob = replace(blob, copies=wanted)
        self._blob = blob
        return blob

    def require_storage(self, storage: str | None) -> None:
        """Let the content be stored in this storage, None: in the first one. Call it in the transaction.

        Raises `BlobVanishedError` if it was stored in another one.
        """
        self._storage = storage
        name = storage or self._blobs.backends.current
        if name != self._blob_write.storage:
            self._blob_write.change_storage(name)

    def _follows_promotion(self) -> bool:
        """Return whether another storage was promoted meanwhile, in which the content can be stored."""
        if self._blob_write.watched.is_given_up:
            return False  # a thread still stores it
        follow_promotion(self._blobs.database, self._blobs.backends)
        try:
            self.require_storage(self._storage)
        except BlobVanishedError:
            return True
        return False

    def _make_room(self) -> bool:
        return self.refuse_early() and self.room.make(self.content.size)

    def _write(self, session: Session) -> Written | RecordedAnswer:
        hold_promotion(session, self._blobs.backends)
        if not self._blob_write.inserts_content:  # or else its insert looks for a promotion
            follow(session, self._blobs.backends)
        self.require_storage(self._storage)
        blob = self._blob_write.upsert_row(session)
        hit("blob_row_written")
        written = self.write_rows(session, blob)
        hit("rows_written")
        self._blob_write.check_not_swept()
        return written
