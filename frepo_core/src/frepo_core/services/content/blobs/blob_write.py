"""Writes one content to a backend, and deletes it again unless a committed row uses it."""

import hashlib
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, BinaryIO, cast

from sqlalchemy import Row, bindparam, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.commit_watch import CommitWatch
from frepo_core.db.models import Blob
from frepo_core.db.row_inserts import insert_of, insert_row
from frepo_core.domain.identity import By
from frepo_core.domain.naming import new_blob_key
from frepo_core.errors import BlobNotFound, StorageFull, StorageUnavailable
from frepo_core.plugins import StorageBackend

from ...base.records import BlobRecord
from ...events.blob_facts import blob_damaged, blob_healed
from ...events.recording import record
from ..chains.chain_places import RAW
from ..chains.dependents import is_chain_there, outdate_copies, store_raw, verify_dependents
from ..ingest import CHUNK, Content
from ..storages.backends import Backends
from ..storages.storage_deadlines import WatchedContent
from ..storages.write_guard import Presence
from .failpoints import hit

log = logging.getLogger(__name__)

_BLOB = Blob.__table__
_LOCATIONS = select(
    _BLOB.c.storage, _BLOB.c.key, _BLOB.c.damaged_at, _BLOB.c.size, _BLOB.c.stored_size, _BLOB.c.base_id
).where(_BLOB.c.digest == bindparam("digest"))
_INSERT = insert_of(Blob)
_ROW = select(Blob).where(Blob.digest == bindparam("digest"), Blob.storage == bindparam("storage"))
# To use the blob as it is, a shared lock is enough. With exclusive ones, two uploads that each evict the content of the
# other would wait for each other: a row of the trash locks its blob, too.
_ROW_TO_USE, _ROW_TO_REPLACE = _ROW.with_for_update(read=True), _ROW.with_for_update()

# No sweep can delete new bytes within the first. The second is half of the shortest grace period of a sweep.
SHORT_WAIT = timedelta(seconds=1)
LONGEST_WAIT = timedelta(minutes=30)
NEVER = datetime.min.replace(tzinfo=UTC)


class BlobVanishedError(Exception):
    """The bytes that the transaction relies on were deleted meanwhile: they must be stored again."""


class BlobWrite:
    """One write to a storage. Its `__exit__` without a commit deletes the key that was stored, and only that key.

    If the outcome of the commit is unknown, the key stays: at worst it is an orphan, which `storage:sweep` deletes.
    A row never points at missing bytes.

    Call `ensure_stored` outside a transaction, then `upsert_row` and `check_not_swept` inside the write transaction.
    """

    def __init__(
        self,
        content: Content,
        database: Database,
        backends: Backends,
        presence: Presence,
        by: By,
        *,
        storage: str,
        require_room: Callable[[int], None],
    ) -> None:
        """`require_room` is called with the size before the content is stored, and with 0 afterwards."""
        self.storage = storage
        self._require_room = require_room
        self._content = content
        self.watched = WatchedContent(content.stream, content.size)
        self._by = by
        self._start = content.stream.tell()
        self._database = database
        self._backends = backends
        self._presence = presence
        self._key: str | None = None
        self._bad_key: str | None = None
        self._stored_at = NEVER
        self._must_store_again = False
        # No blob of the storage had this content a moment ago, which saves a query; nor had one of another storage.
        self.expects_no_row = False
        self.is_unknown = False
        self._row_uses_key = False
        self._replaced: tuple[str, str] | None = None
        self._left: tuple[str, str] | None = None
        self.watch = CommitWatch()

    def change_storage(self, storage: str) -> None:
        """Write to another storage from now on: call it in the transaction, which is given up.

        Raises `BlobVanishedError`. The next `ensure_stored` deletes what was stored in the former one.
        """
        if self._key:
            self._left = self.storage, self._key
        self.storage, self._key, self._bad_key, self.expects_no_row = storage, None, None, False
        raise BlobVanishedError

    def ensure_stored(self) -> bool:
        """Store the content under a fresh key, unless a sound blob with the same digest exists.

        Return whether it was stored. If the storage is full, it may be called again. Raises `StorageUnavailable` if the
        storage is not the one it was. If the upload was given up meanwhile, what was stored is deleted.
        """
        try:
            return self._ensure_stored()
        finally:
            if self.watched.has_ended():
                self.watched.release()
                if self._key:
                    self._delete(self.storage, self._key)

    def _ensure_stored(self) -> bool:
        self._delete_left()
        self._presence.require(self.storage)
        if self._must_store_again and self._key:
            self._delete(self.storage, self._key)
            self._key = None
        found = None if self.expects_no_row else self.find_row()
        self.expects_no_row = found is None
        if found and is_chain_there(self._database, self._backends, found):
            return False
        self._bad_key = found.key if found else None
        if self._key is None:
            try:
                self._store()
            except StorageFull:
                self._must_store_again = True
                raise
        return True

    def upsert_row(self, session: Session) -> BlobRecord:
        """Return the blob of the content's row: a new one, the existing one, or that with its bytes replaced.

        Raises `BlobVanishedError` if the row was deleted after `ensure_stored` found its blob.
        """
        self._row_uses_key, self._replaced = False, None
        if self._key and self.expects_no_row:
            self.expects_no_row = False  # if another upload has inserted one, the transaction is tried again
            return self._insert(session, is_new=self.is_unknown)
        which = {"digest": self._content.digest, "storage": self.storage}
        row = session.scalar(_ROW_TO_REPLACE if self._key else _ROW_TO_USE, which)
        if row is None:
            return self._insert(session)
        if self._key and (row.damaged_at or row.key == self._bad_key):
            self._replace(session, row, self._key)
        elif row.encoding != RAW and row.expand_since is None:  # it is adopted as a new content
            row.expand_since = utc_now()
        row.checksum = self._content.checksum
        return BlobRecord.of(row)

    def check_not_swept(self) -> None:
        """Check at the end of the write transaction that the new bytes still exist.

        The bytes have no row while the transaction waits, so a sweep with a short grace period takes them for an
        orphan. Raises `BlobVanishedError` if they are gone, or so old that a sweep may delete them at any moment;
        `ensure_stored` stores them again then.
        """
        if not self._row_uses_key or self._key is None:
            return
        waited = abs(utc_now() - self._stored_at)  # sweeps use the same clock, which may have been set back
        if waited < SHORT_WAIT:
            return
        if waited > LONGEST_WAIT or not self._is_sound(self.storage, self._key):
            log.warning("the blob %s waited %s for its row and is stored again", self._key, waited)
            self._must_store_again = True
            raise BlobVanishedError

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Delete the new bytes if no row uses them, or else the damaged bytes that they replaced."""
        if self.watched.is_given_up:
            return  # the storage hangs; whoever waits for it tidies up
        self._delete_left()
        self.watched.release()
        if self.watch.outcome_is_unknown:
            log.warning("the outcome of a commit is unknown, the blob %s stays", self._key)
        elif self.watch.committed and self._row_uses_key:
            if self._replaced:
                hit("damaged_replaced")
                log.warning("the damaged blob %s was stored anew as %s", self._replaced[1], self._key)
                self._delete(*self._replaced)
        elif self._key:
            self._delete(self.storage, self._key)

    def _insert(self, session: Session, *, is_new: bool = False) -> BlobRecord:
        if self._key is None:
            raise BlobVanishedError
        values: dict[str, Any] = {
            "digest": self._content.digest,
            "checksum": self._content.checksum,
            "size": self._content.size,
            "mime": self._content.mime,
            "storage": self.storage,
            "key": self._key,
        }
        blob_id = insert_row(session, _INSERT, {**values, "created_at": self._stored_at})
        self._row_uses_key = True
        return BlobRecord(id=blob_id, is_new=is_new, **values)

    def _replace(self, session: Session, row: Blob, key: str) -> None:
        """Point the row of damaged bytes at the new ones, and record that. Their damage may not be known yet."""
        if row.damaged_at is None:
            record(session, blob_damaged(session, row, "the bytes are missing or have another size", by=self._by))
        self._replaced = (row.storage, row.key)
        if row.encoding != RAW:
            outdate_copies(session, row.id)
        store_raw(row, key)
        row.damaged_at = row.verified_at = None
        verify_dependents(session, row.id)
        self._row_uses_key = True
        record(session, blob_healed(session, row, by=self._by))

    def _store(self) -> None:
        """Store under a fresh key, then check the size that the backend reports: some backends lose bytes silently."""
        self._key = new_blob_key(self._content.digest)
        self._content.stream.seek(self._start)
        backend = self._backends.get(self.storage)
        self._require_room(self._content.size)
        hit("store")
        backend.store(self._key, cast(BinaryIO, self.watched), self._content.size)
        hit("stored")
        stored = backend.stat(self._key).size
        hit("size_checked")
        self._require_room(0)
        if stored != self._content.size:
            raise StorageUnavailable(f"The storage kept {stored} of {self._content.size} bytes")
        self._presence.require(self.storage)  # it may have been exchanged while the bytes were stored
        if self._backends.reads_back:
            self._read_back(backend, self._key)
        self._stored_at, self._must_store_again = utc_now(), False

    def _read_back(self, backend: StorageBackend, key: str) -> None:
        sha256 = hashlib.sha256()
        with backend.open(key) as stored:
            while chunk := stored.read(CHUNK):
                sha256.update(chunk)
        if sha256.hexdigest() != self._content.digest:
            raise StorageUnavailable("The storage kept other bytes than it was given")

    def _is_sound(self, storage: str, key: str) -> bool:
        """Return whether the blob exists with the right size: an upload that reuses a lost one would be lost, too."""
        try:
            return self._backends.get(storage).stat(key).size == self._content.size
        except BlobNotFound:
            return False

    def find_row(self) -> Row[Any] | None:
        """Return where the bytes of the content are in the storage, and since when they are damaged, or None.

        Notes whether the content is in any other storage.
        """
        rows = self._database.fetch_rows(_LOCATIONS, digest=self._content.digest)
        self.is_unknown = not rows
        for row in rows:
            if row.storage == self.storage:
                return row
        return None

    def _delete_left(self) -> None:
        left, self._left = self._left, None
        if left:
            self._delete(*left)

    def _delete(self, storage: str, key: str) -> None:
        """Delete a key that is not needed. Never raises: the result of the upload is decided already."""
        try:
            self._backends.get(storage).delete(key)
        except Exception:
            log.exception("the blob %s was not deleted, storage:sweep will delete it", key)
