"""The bytes of a blob, copied to another storage and read back, until a row uses them."""

import logging
from collections.abc import Callable
from types import TracebackType
from typing import Self

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.commit_watch import CommitWatch
from frepo_core.db.models import Blob, BlobCopy, File, TrashEntry
from frepo_core.domain.naming import new_blob_key
from frepo_core.errors import BlobNotFound, StorageError, StorageUnavailable
from frepo_core.plugins import Checksums, StorageBackend

from ...content.blobs.blob_damage import find_damage
from ...content.chains.chain_damage import find_row_damage
from ...content.chains.chain_places import place_of
from ...content.chains.chain_reader import ChainReader
from ...content.storages.backends import Backends
from ...content.storages.write_guard import Presence

log = logging.getLogger(__name__)


class DamagedBlobError(Exception):
    """The content does not match the digest or size of its row."""


class CopiedBlob:
    """A copy under a fresh key. Its `__exit__` deletes it, unless a transaction has used it or may have.

    Raises `DamagedBlobError` for a damaged source, `UnreadableError`, and the errors of the storages.
    """

    def __init__(
        self,
        database: Database,
        backends: Backends,
        presence: Presence,
        row: Blob | BlobCopy,
        target: str,
        pace: Callable[[int], None] | None = None,
    ) -> None:
        """An encoded content is decoded: the copy is raw.

        `pace` is called with the size of each piece that was read back; it may wait, or end the work.
        """
        self.key = new_blob_key(row.digest)
        self.sums = Checksums()
        self._source, self._target = backends.get(row.storage), backends.get(target)
        self._chains = ChainReader(database, backends)
        self._presence = presence
        self._row = row
        self._target_name = target
        self._pace = pace
        self._watch = CommitWatch()
        self._is_used = False

    def __enter__(self) -> Self:
        """Copy the bytes and read the copy."""
        try:
            self._copy()
        except BaseException:
            _delete(self._target, self.key)
            raise
        return self

    def use(self, database: Database, work: Callable[[Session], bool]) -> bool:
        """Run a transaction that uses the copy if it returns True; return the same."""
        self._is_used = database.write(work, watch=self._watch)
        return self._is_used

    def require_there(self) -> None:
        """Raise `BlobNotFound` if a sweep with a short grace period has deleted the copy. Call it in the transaction.

        The copy has no row while the transaction waits.
        """
        self._target.stat(self.key)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Delete the copy if no row uses it."""
        if not self._is_used and not self._watch.outcome_is_unknown:
            _delete(self._target, self.key)

    def _copy(self) -> None:
        row = self._row
        try:
            with self._chains.open(place_of(row), row.digest, is_verified=True) as content:
                self._target.store(self.key, content, row.size)
            self._presence.require(self._target_name)
            problem = find_damage(
                self._target, self.key, digest=row.digest, size=row.size, sums=self.sums, pace=self._pace
            )
        except (StorageUnavailable, OSError):
            # Either the source is damaged, so it has a wrong size or cannot be read, or a storage is unavailable.
            if problem := find_row_damage(self._chains, self._source, row):
                raise DamagedBlobError(problem) from None
            raise
        if problem:
            raise DamagedBlobError(problem)


def lock_content(session: Session, digest: str, storages: tuple[str, str]) -> dict[str, Blob]:
    """Return the rows of a content in two storages by the storage, locked in the order of their ids."""
    query = select(Blob).where(Blob.digest == digest, Blob.storage.in_(storages)).order_by(Blob.id)
    return {row.storage: row for row in session.scalars(query.with_for_update())}


def is_sound(backend: StorageBackend, row: Blob | None) -> bool:
    """Return whether the bytes of a row are there, and not known to be damaged."""
    try:
        return row is not None and row.damaged_at is None and backend.stat(row.key).size == row.object_size
    except BlobNotFound:
        return False


def use_instead(session: Session, old: Blob, new: Blob) -> None:
    """Let all that uses a blob use another one, and delete its row. Both are locked. Its bytes stay."""
    for user in (File, TrashEntry):
        session.execute(update(user).where(user.blob_id == old.id).values(blob_id=new.id))
    session.execute(update(Blob).where(Blob.base_id == old.id).values(base_id=new.id))
    session.delete(old)


def _delete(backend: StorageBackend, key: str) -> None:
    try:
        backend.delete(key)
    except StorageError:
        log.warning("the copy %s was not deleted, storage:sweep will delete it", key)
