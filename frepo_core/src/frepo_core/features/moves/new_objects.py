"""Adds an object of a content to a storage: copied from another one, decoded, read back, and named."""

import logging
from collections.abc import Callable
from datetime import timedelta
from types import TracebackType
from typing import Self

from sqlalchemy import update
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.clock import read_clock
from frepo_core.db.commit_watch import CommitWatch
from frepo_core.db.models import Content, StoredObject
from frepo_core.domain.naming import new_blob_key
from frepo_core.errors import BlobNotFound, StorageUnavailable
from frepo_core.plugins import Checksums, StorageBackend
from frepo_core.services.content.chains.chain_damage import find_object_damage
from frepo_core.services.content.chains.chain_reader import ChainReader
from frepo_core.services.content.objects.blob_damage import find_damage
from frepo_core.services.content.objects.places import find_current
from frepo_core.services.content.objects.states import CURRENT, FIRST, LACKING, ObjectState
from frepo_core.services.content.objects.supersession import supersede
from frepo_core.services.content.objects.unnamed_bytes import delete_unnamed
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.content.storages.write_guard import Presence

log = logging.getLogger(__name__)


class DamagedBlobError(Exception):
    """The content does not match the digest or size of its row."""


class NewRawObject:
    """A raw copy under a fresh key. Its `__exit__` deletes it, unless a transaction has used it or may have.

    Raises `DamagedBlobError` for a damaged source, `UnreadableError`, and the errors of the storages.
    """

    def __init__(
        self,
        database: Database,
        backends: Backends,
        presence: Presence,
        source: StoredObject,
        storage: str,
        pace: Callable[[int], None] | None = None,
    ) -> None:
        """`pace` is called with the size of each piece that was read back; it may wait, or end the work."""
        self.key = new_blob_key(source.digest)
        self.sums = Checksums()
        self._database, self._backends = database, backends
        self._source, self._target = backends.get(source.storage), backends.get(storage)
        self._chains = ChainReader(database, backends)
        self._presence = presence
        self._row = source
        self._storage = storage
        self._pace = pace
        self._watch = CommitWatch()
        self._is_used = False

    def __enter__(self) -> Self:
        """Copy the bytes and read the copy."""
        try:
            self._copy()
        except BaseException:
            delete_unnamed(self._database, self._backends, self._storage, self.key)
            raise
        return self

    def use(self, work: Callable[[Session], bool]) -> bool:
        """Run a transaction that calls `insert`, and uses the copy if it returns True; return the same."""
        self._is_used = self._database.write(work, watch=self._watch)
        return self._is_used

    def insert(self, session: Session, keeps: timedelta) -> StoredObject:
        """Let the copy be the current object of its content, which is locked, in the storage.

        Raises `BlobNotFound` if a sweep with a short grace period has deleted it: it has no row while the transaction
        waits.
        """
        self._target.stat(self.key)
        content_id = self._row.content_id
        assert content_id is not None
        if (known := find_current(session, content_id, self._storage)) is not None:
            supersede(session, known, keeps=keeps)
        now = read_clock(session)
        row = StoredObject(
            content_id=content_id,
            digest=self._row.digest,
            size=self._row.size,
            storage=self._storage,
            key=self.key,
            state=ObjectState.PRESENT.value,
            slot=CURRENT,
            role=FIRST,
            since=now,
            stored_at=now,
            read_at=now,
        )
        session.add(row)
        session.execute(update(Content).where(Content.id == content_id).values(checksum=self.sums.checksum))
        session.flush()
        return row

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Delete the copy if no row uses it."""
        if not self._is_used and not self._watch.outcome_is_unknown:
            delete_unnamed(self._database, self._backends, self._storage, self.key)

    def _copy(self) -> None:
        row = self._row
        try:
            with self._chains.open(row, is_verified=True) as content:
                self._target.store(self.key, content, row.size)
            self._presence.require(self._storage)
            problem = find_damage(
                self._target, self.key, digest=row.digest, size=row.size, sums=self.sums, pace=self._pace
            )
        except (StorageUnavailable, OSError):
            # Either the source is damaged, so it has a wrong size or cannot be read, or a storage is unavailable.
            if problem := find_object_damage(self._chains, self._source, row):
                raise DamagedBlobError(problem) from None
            raise
        if problem:
            raise DamagedBlobError(problem)


def is_there(backend: StorageBackend, row: StoredObject | None) -> bool:
    """Return whether an object is there with its size, and not known to be damaged."""
    try:
        is_known = row is not None and row.key is not None and row.state not in LACKING
        return is_known and backend.stat(str(row.key)).size == row.object_size if row is not None else False
    except BlobNotFound:
        return False
