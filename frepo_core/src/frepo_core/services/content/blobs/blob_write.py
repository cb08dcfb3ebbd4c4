"""Writes the row of a content that was stored, and deletes the bytes again unless a committed row uses them."""

import logging
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from sqlalchemy import Row
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.commit_watch import CommitWatch
from frepo_core.db.models import Content as ContentRow
from frepo_core.db.models import StoredObject
from frepo_core.db.row_inserts import insert_row
from frepo_core.domain.identity import By
from frepo_core.errors import StorageFull

from ...base.failpoints import hit
from ...base.records import BlobRecord
from ..ingest import Content
from ..objects.marks import note_healed
from ..objects.states import CURRENT, LACKING, RAW, ObjectState
from ..objects.unnamed_bytes import is_named
from ..storages.backends import Backends
from ..storages.first_storage import insert_if_current
from ..storages.write_guard import Presence
from .blob_reader import BlobReader
from .content_rows import INSERT, LOCATIONS, content_values, lock_rows
from .new_bytes import BlobVanishedError, NewBytes
from .object_replacement import give_way, is_chain_there

__all__ = ["BlobVanishedError", "BlobWrite"]

log = logging.getLogger(__name__)

MISSING_BYTES = "the bytes are missing or have another size"


class BlobWrite(NewBytes):
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
        delete_objects: Callable[[Sequence[int]], None],
    ) -> None:
        """`require_room` is called with the size before the content is stored, and with 0 afterwards.

        `delete_objects` is called after the commit, with the ids of damaged objects that were replaced.
        """
        super().__init__(content, database, backends, presence, storage=storage, require_room=require_room)
        self._delete_objects = delete_objects
        self._by = by
        self._bad_key: str | None = None
        self._problem = MISSING_BYTES
        self._tried_key: str | None = None
        # No object of the storage had this content a moment ago, which saves a query; nor had one of another storage.
        self.expects_no_row = self.is_unknown = False
        self._replaced: list[int] = []
        self._left: tuple[str, str] | None = None
        # The current objects of the content by storage, as the transaction has read them.
        self.current: dict[str, StoredObject] = {}
        self.watch = CommitWatch()

    @property
    def inserts_content(self) -> bool:
        """Whether `upsert_row` is about to insert a content that nobody knew a moment ago."""
        return self._key is not None and self.expects_no_row and self.is_unknown

    def change_storage(self, storage: str) -> None:
        """Write to another storage from now on: call it in the transaction, which is given up.

        Raises `BlobVanishedError`. The next `ensure_stored` deletes what was stored in the former one.
        """
        if self._key:
            self._left = self.storage, self._key
        self.storage, self._key, self._bad_key, self.expects_no_row = storage, None, None, False
        raise BlobVanishedError

    def ensure_stored(self) -> bool:
        """Store the content under a fresh key, unless a sound object of the storage has it.

        Return whether it was stored. If the storage is full, it may be called again. Raises `StorageUnavailable` if the
        storage is not the one it was. If the upload was given up meanwhile, what was stored is deleted.
        """
        try:
            return self._ensure_stored()
        finally:
            if self.watched.has_ended():
                self.watched.release()
                if self._key:
                    self._discard(self.storage, self._key)

    def _ensure_stored(self) -> bool:
        self._discard_left()
        self._presence.require(self.storage)
        if self._must_store_again and self._key:
            self._discard(self.storage, self._key)
            self._key = None
        found = None if self.expects_no_row else self.find_row()
        self.expects_no_row = found is None
        if found and self._may_be_relied_on(found):
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
        """Return the content's record: a new one, the existing one, or that with its bytes in the storage replaced.

        Raises `BlobVanishedError` if the row was deleted after `ensure_stored` found its object.
        """
        self._row_uses_key, self._replaced, self.current = False, [], {}
        if self._key:
            self._require_recent()
            self._require_unnamed(session)
        if self.inserts_content:
            self.expects_no_row = False  # if another upload has inserted one, the transaction is tried again
            return self._insert_content(session, is_new=True)
        content, objects = lock_rows(session, self._content.digest, is_stored=self._key is not None)
        if content is None:
            return self._insert_content(session)
        self.current = {row.storage: row for row in objects}
        found = self.current.get(self.storage)
        if found is None or (self._key and (found.state in LACKING or found.key == self._bad_key)):
            return self._insert_object(session, content, found)
        if found.state != ObjectState.PRESENT:
            raise BlobVanishedError
        if found.encoding != RAW and content.expand_since is None:  # it is used as a new content
            content.expand_since = utc_now()
        content.checksum = self._content.checksum
        return BlobRecord.of(content, found)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Delete the new bytes if no row uses them, or else the damaged bytes that they replaced."""
        if self.watched.is_given_up:
            return  # the storage hangs; whoever waits for it tidies up
        self._discard_left()
        self.watched.release()
        if self.watch.outcome_is_unknown:
            log.warning("the outcome of a commit is unknown, the blob %s stays", self._key)
        elif self.watch.committed and self._row_uses_key:
            if self._replaced:
                hit("damaged_replaced")
                log.warning("a damaged object was stored anew as %s", self._key)
                self._delete_objects(self._replaced)
        elif self._key:
            self._discard(self.storage, self._key)

    def _require_unnamed(self, session: Session) -> None:
        """Raise `BlobVanishedError` if a recovery has recorded the new bytes: the first attempt has failed then."""
        was_tried, self._tried_key = self._tried_key == self._key, self._key
        if was_tried and is_named(session, self.storage, str(self._key)):
            self._must_store_again = True
            raise BlobVanishedError

    def _insert_content(self, session: Session, *, is_new: bool = False) -> BlobRecord:
        if self._key is None:
            raise BlobVanishedError
        values = content_values(self._content)
        content_id = insert_row(session, INSERT, {**values, "created_at": self._stored_at})
        self._use_key(session)
        return BlobRecord(id=content_id, is_new=is_new, storage=self.storage, key=self._key, **values)

    def _insert_object(self, session: Session, content: ContentRow, found: StoredObject | None) -> BlobRecord:
        """Let the new bytes be the object of a known content in the storage, in place of damaged ones."""
        if self._key is None:
            raise BlobVanishedError
        is_healing = found is not None and found.state not in {ObjectState.WANTED, ObjectState.WRITING}
        if found is not None:
            self._replaced = give_way(session, self._backends, found, self._problem, by=self._by)
        content.checksum = self._content.checksum
        session.flush()
        values = self._use_key(session)
        row = StoredObject(content_id=content.id, digest=content.digest, size=content.size, encoding=RAW, **values)
        if is_healing:
            note_healed(session, self._backends, row, by=self._by)
        return BlobRecord.of(content, row)

    def _use_key(self, session: Session) -> dict[str, Any]:
        """Insert the object; return its values. Raises `BlobVanishedError` after a promotion."""
        values = {
            "storage": self.storage,
            "key": self._key,
            "state": ObjectState.PRESENT.value,
            "slot": CURRENT,
            "since": self._stored_at,
            "stored_at": self._stored_at,
            "read_at": self._stored_at if self._backends.reads_back else None,
        }
        if not insert_if_current(session, self._backends, self._content.digest, values):
            raise BlobVanishedError
        self._row_uses_key = True
        return values

    def _may_be_relied_on(self, found: Row[Any]) -> bool:
        """Return whether the upload may use an object: it is there, and if nothing used its content, it was read.

        What is used may have a sound copy elsewhere, which stays. Of what is unused, each may have been deleted.
        """
        self._problem = MISSING_BYTES
        if not is_chain_there(self._database, self._backends, found):
            return False
        if found.is_used:
            return True
        with self._database.reading() as session:
            row = session.get(StoredObject, found.id)
        if row is None:
            return False
        reader = BlobReader(self._database, self._backends, self.watched.note_progress, self._by)
        is_current, damage = reader.read(row)
        if damage:
            self._problem = damage.problem
        return is_current and damage is None

    def find_row(self) -> Row[Any] | None:
        """Return the current object of the content in the storage, or None. Notes whether there is any object of it."""
        rows = self._database.fetch_rows(LOCATIONS, digest=self._content.digest)
        self.is_unknown = not rows
        for row in rows:
            if row.storage == self.storage and row.slot == CURRENT and row.key is not None:
                return row
        return None

    def _discard_left(self) -> None:
        left, self._left = self._left, None
        if left:
            self._discard(*left)
