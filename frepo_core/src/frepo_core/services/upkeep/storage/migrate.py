"""Moves blobs from one storage to another while the service runs: copy, verify, point the row at the copy."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob, BlobCopy
from frepo_core.domain.naming import parse_digest_in_key
from frepo_core.errors import BlobNotFound, BlobRetained

from ...content.blobs.blob_damage import UnreadableError
from ...content.chains.dependents import store_raw
from ...content.storages.backends import Backends
from ...content.storages.owner_mark import find_marks
from ...content.storages.sweep_guard import Ownership
from ...content.storages.write_guard import Presence
from ...events.blob_facts import blob_healed
from ...events.recording import record
from .copied_blob import CopiedBlob, DamagedBlobError, is_sound, lock_content, use_instead
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
        self._backends = backends
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
            except (BlobNotFound, UnreadableError, DamagedBlobError) as error:
                if self._is_unchanged(row):
                    failed.append(f"{row.key}: {error}")
                    log.error("blob %s was not moved: %s", row.key, error)
            progress(done=done, total=total, size=row.size)
        return MigrationReport(moved=moved, size=size, purged=self._purge() if purge else 0, failed=failed)

    def _move(self, row: Blob) -> bool:
        """Copy one blob to a fresh key, read the copy, and point the row at it; return whether the row was changed.

        If the target has the content already, all that uses the blob uses that one.
        """
        if self._has_target(row):
            return self._database.write(lambda session: self._merge(session, row))
        with CopiedBlob(self._database, self._backends, self._presence, row, self._target_name) as copy:
            return copy.use(self._database, lambda session: self._switch_row(session, row, copy))

    def _switch_row(self, session: Session, seen: Blob, copy: CopiedBlob) -> bool:
        """Point the row at the copy, unless the row was deleted or changed meanwhile."""
        rows = lock_content(session, seen.digest, (self._source_name, self._target_name))
        row, known = rows.get(self._source_name), rows.get(self._target_name)
        if row is None or (row.id, row.key) != (seen.id, seen.key):
            return False
        copy.require_there()
        if known is not None:  # its bytes are damaged, or it is new: it gets those of the copy
            use_instead(session, row, known)
            session.flush()
            row = known
        was_damaged = row.damaged_at is not None
        store_raw(row, copy.key)
        row.storage = self._target_name
        row.checksum = copy.sums.checksum
        row.verified_at, row.damaged_at = utc_now(), None  # the copy was read back and is sound
        if was_damaged:
            record(session, blob_healed(session, row, by=None))
        return True

    def _merge(self, session: Session, seen: Blob) -> bool:
        """Let all that uses the blob use the one of the target, unless one of them was changed meanwhile."""
        rows = lock_content(session, seen.digest, (self._source_name, self._target_name))
        row, known = rows.get(self._source_name), rows.get(self._target_name)
        if row is None or (row.id, row.key) != (seen.id, seen.key) or not is_sound(self._target, known):
            return False
        assert known is not None  # it is sound
        use_instead(session, row, known)
        return True

    def _has_target(self, row: Blob) -> bool:
        with self._database.reading() as session:
            query = select(Blob).where(Blob.digest == row.digest, Blob.storage == self._target_name)
            return is_sound(self._target, session.scalar(query))

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
            if digest and self._is_in_target(digest, stat.size) and not self._is_named(stat.key):
                try:
                    self._source.delete(stat.key)
                except BlobRetained as error:
                    log.warning("the blob %s stays in the source: %s", stat.key, error.message)
                else:
                    purged += 1
        return purged

    def _is_in_target(self, digest: str, size: int) -> bool:
        with self._database.reading() as session:
            row = session.scalar(select(Blob).where(Blob.digest == digest, Blob.storage == self._target_name))
        return row is not None and row.size == size and is_sound(self._target, row)

    def _is_named(self, key: str) -> bool:
        """Return whether a row names these bytes: of a blob that was not moved, or of a second copy."""
        with self._database.reading() as session:
            return any(
                session.scalar(select(model.id).where(model.storage == self._source_name, model.key == key)) is not None
                for model in (Blob, BlobCopy)
            )
