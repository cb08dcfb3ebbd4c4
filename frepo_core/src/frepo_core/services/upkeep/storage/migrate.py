"""Moves blobs from one storage to another while the service runs: copy, verify, point the row at the copy."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.commit_watch import CommitWatch
from frepo_core.db.models import Blob, BlobCopy
from frepo_core.domain.naming import new_blob_key, parse_digest_in_key
from frepo_core.errors import BlobNotFound, StorageError, StorageUnavailable
from frepo_core.plugins import Checksums, StorageBackend

from ...content.blobs.blob_damage import UnreadableError, find_damage
from ...content.storages.backends import Backends
from ...content.storages.owner_mark import find_marks
from ...content.storages.sweep_guard import Ownership
from ...content.storages.write_guard import Presence
from ...events.blob_facts import blob_healed
from ...events.recording import record
from .progress import Progress, count_blobs, no_progress

log = logging.getLogger(__name__)

PAGE = 200


@dataclass(frozen=True, kw_only=True)
class MigrationReport:
    """The numbers of moved blobs, moved bytes and purged source blobs, and which blobs failed and why."""

    moved: int
    size: int
    purged: int
    failed: Sequence[str]


class Migrator:
    """Moves all blobs of one storage to another. It can be stopped at any time and run again."""

    def __init__(self, database: Database, backends: Backends, *, source: str, target: str) -> None:
        self._database = database
        self._source_name, self._target_name = source, target
        self._source, self._target = backends.get(source), backends.get(target)
        self._ownership = Ownership(database, backends)
        self._presence = Presence(database, backends)

    def run(self, *, purge: bool = False, progress: Progress = no_progress) -> MigrationReport:
        """Move the blobs whose rows name the source; with `purge`, delete the bytes in the source of all moved blobs.

        The target is marked as this database's before the first blob is stored. If it is not the one that was marked,
        raises `StorageUnavailable`. A source that may hold blobs of others is not purged: `StorageDisputedError`.

        A blob that is damaged or unreadable in the source stays there and is reported; the others are moved.
        """
        self._ownership.claim(self._target_name)
        self._presence.look(self._target_name)
        total = count_blobs(self._database, Blob.storage == self._source_name)
        moved, size, failed = 0, 0, list[str]()
        for done, row in enumerate(self._rows(), start=1):
            try:
                if self._move(row):
                    moved, size = moved + 1, size + row.size
            except (BlobNotFound, UnreadableError, _DamagedError) as error:
                if self._is_unchanged(row):
                    failed.append(f"{row.key}: {error}")
                    log.error("blob %s was not moved: %s", row.key, error)
            progress(done=done, total=total, size=row.size)
        return MigrationReport(moved=moved, size=size, purged=self._purge() if purge else 0, failed=failed)

    def _move(self, row: Blob) -> bool:
        """Copy one blob to a fresh key, read the copy, and point the row at it; return whether the row was changed."""
        key = new_blob_key(row.digest)
        watch = CommitWatch()
        switched = False
        try:
            with self._source.open(row.key) as content:
                self._target.store(key, content, row.size)
            self._presence.require(self._target_name)
            sums = Checksums()
            if problem := find_damage(self._target, key, digest=row.digest, size=row.size, sums=sums):
                raise _DamagedError(problem)
            switched = self._database.write(lambda session: self._switch_row(session, row, key, sums), watch=watch)
        except (StorageUnavailable, OSError):
            # Either the source is damaged, so it has a wrong size or cannot be read, or a storage is unavailable.
            if problem := find_damage(self._source, row.key, digest=row.digest, size=row.size):
                raise _DamagedError(problem) from None
            raise
        finally:
            if not switched and not watch.outcome_is_unknown:
                _delete_copy(self._target, key)
        return switched

    def _switch_row(self, session: Session, seen: Blob, key: str, sums: Checksums) -> bool:
        """Point the row at the copy, unless the row was deleted or changed meanwhile."""
        row = session.scalar(select(Blob).where(Blob.id == seen.id).with_for_update())
        if row is None or (row.storage, row.key) != (seen.storage, seen.key):
            return False
        self._target.stat(key)  # a sweep with a short grace period may have deleted the copy meanwhile
        was_damaged = row.damaged_at is not None
        row.storage, row.key = self._target_name, key
        row.checksum = sums.checksum
        row.verified_at, row.damaged_at = utc_now(), None  # the copy was read back and is sound
        if was_damaged:
            record(session, blob_healed(session, row, by=None))
        return True

    def _is_unchanged(self, seen: Blob) -> bool:
        """Return whether the row still names the same bytes. Otherwise a failure to move them does not matter."""
        with self._database.reading() as session:
            query = select(Blob.id).where(Blob.id == seen.id, Blob.storage == seen.storage, Blob.key == seen.key)
            return session.scalar(query) is not None

    def _rows(self) -> Iterator[Blob]:
        after = 0
        while True:
            with self._database.reading() as session:
                query = select(Blob).where(Blob.storage == self._source_name, Blob.id > after)
                rows = session.scalars(query.order_by(Blob.id).limit(PAGE)).all()
            if not rows:
                return
            yield from rows
            after = rows[-1].id

    def _purge(self) -> int:
        """Delete the source's bytes of each content that has sound bytes in the target and a row that names them."""
        self._ownership.raise_epoch(self._source_name)
        self._ownership.confirm(self._source_name, find_marks(self._source))
        purged = 0
        for stat in self._source.list():
            digest = parse_digest_in_key(stat.key)
            if digest and self._is_in_target(digest, stat.size) and not self._is_second_copy(stat.key):
                self._source.delete(stat.key)
                purged += 1
        return purged

    def _is_in_target(self, digest: str, size: int) -> bool:
        with self._database.reading() as session:
            row = session.scalar(select(Blob).where(Blob.digest == digest, Blob.storage == self._target_name))
        try:
            return row is not None and not row.damaged_at and self._target.stat(row.key).size == size
        except BlobNotFound:
            return False

    def _is_second_copy(self, key: str) -> bool:
        with self._database.reading() as session:
            query = select(BlobCopy.id).where(BlobCopy.storage == self._source_name, BlobCopy.key == key)
            return session.scalar(query) is not None


class _DamagedError(Exception):
    """The content does not match the digest or size of its row."""


def _delete_copy(backend: StorageBackend, key: str) -> None:
    try:
        backend.delete(key)
    except StorageError:
        log.warning("the copy %s was not deleted, storage:sweep will delete it", key)
