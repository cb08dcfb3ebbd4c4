"""Stores the bytes of an upload under a fresh key, and deletes them again while no row names them."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import BinaryIO, cast

from frepo_core.db import Database, utc_now
from frepo_core.domain.naming import new_blob_key
from frepo_core.errors import BlobNotFound, StorageUnavailable

from ...base.failpoints import hit
from ..ingest import Content
from ..objects.unnamed_bytes import delete_unnamed
from ..storages.backends import Backends
from ..storages.storage_deadlines import WatchedContent
from ..storages.write_guard import Presence
from .content_rows import require_digest

log = logging.getLogger(__name__)

# No sweep can delete new bytes within the first. The second is half of the shortest grace period of a sweep.
SHORT_WAIT = timedelta(seconds=1)
LONGEST_WAIT = timedelta(minutes=30)
NEVER = datetime.min.replace(tzinfo=UTC)


class BlobVanishedError(Exception):
    """The bytes that the transaction relies on were deleted meanwhile: they must be stored again."""


class NewBytes:
    """The bytes of one upload in one storage. `watched` knows whether a storage still reads them."""

    def __init__(
        self,
        content: Content,
        database: Database,
        backends: Backends,
        presence: Presence,
        *,
        storage: str,
        require_room: Callable[[int], None],
    ) -> None:
        """`require_room` is called with the size before the content is stored, and with 0 afterwards."""
        self.storage = storage
        self._require_room = require_room
        self._content = content
        self.watched = WatchedContent(content.stream, content.size)
        self._start = content.stream.tell()
        self._database = database
        self._backends = backends
        self._presence = presence
        self._key: str | None = None
        self._stored_at = NEVER
        self._must_store_again = False
        self._row_uses_key = False

    def check_not_swept(self) -> None:
        """Check at the end of the write transaction that the new bytes still exist.

        The bytes have no row while the transaction waits, so a sweep with a short grace period takes them for an
        orphan. Raises `BlobVanishedError` if they are gone, or so old that a sweep may delete them at any moment;
        `ensure_stored` stores them again then.
        """
        if not self._row_uses_key or self._key is None:
            return
        waited = abs(utc_now() - self._stored_at)  # with SQLite, sweeps use this clock, too: it may have been set back
        if waited < SHORT_WAIT:
            return
        self._require_recent()
        if not self._is_sound(self.storage, self._key):
            self._must_store_again = True
            raise BlobVanishedError

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
            require_digest(backend, self._key, self._content.digest)
        self._stored_at, self._must_store_again = utc_now(), False

    def _require_recent(self) -> None:
        """Raise `BlobVanishedError` if a sweep may delete the new bytes at any moment, or may have taken them over."""
        waited = abs(utc_now() - self._stored_at)
        if waited > LONGEST_WAIT:
            log.warning("the blob %s waited %s for its row and is stored again", self._key, waited)
            self._must_store_again = True
            raise BlobVanishedError

    def _is_sound(self, storage: str, key: str) -> bool:
        """Return whether the bytes exist with the right size: an upload that reuses lost ones would be lost, too."""
        try:
            return self._backends.get(storage).stat(key).size == self._content.size
        except BlobNotFound:
            return False

    def _discard(self, storage: str, key: str) -> None:
        """Delete bytes that are not needed. Never raises: the result of the upload is decided already."""
        delete_unnamed(self._database, self._backends, storage, key)
