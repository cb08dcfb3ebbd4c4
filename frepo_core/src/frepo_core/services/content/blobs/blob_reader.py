"""Reads blobs and records whether they are sound. Damage is marked; nothing is deleted."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from sqlalchemy import CursorResult, select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob
from frepo_core.domain.identity import By
from frepo_core.plugins import Checksums

from ...events.blob_facts import blob_damaged, blob_healed
from ...events.recording import record
from ..chains.chain_damage import find_row_damage
from ..chains.chain_reader import ChainReader
from ..chains.dependents import verify_dependents
from ..storages.backends import Backends
from ..storages.write_guard import Presence
from .blob_damage import UnreadableError


@dataclass(frozen=True, kw_only=True)
class Damage:
    """A damaged blob: its digest, storage and key, and what is wrong.

    `is_marked` is False for a blob that could not be read: its bytes may be fine.
    """

    digest: str
    storage: str
    key: str
    problem: str
    is_marked: bool = True


class BlobReader:
    """Reads blobs and records the results, for `verify` and for downloads of damaged blobs."""

    def __init__(
        self, database: Database, backends: Backends, pace: Callable[[int], None] | None = None, by: By = None
    ) -> None:
        """`pace` gets the size of each piece that was read, and may wait or end the run. `by` is the reader."""
        self._database = database
        self._backends = backends
        self._chains = ChainReader(database, backends)
        self._presence = Presence(database, backends)
        self._pace = pace
        self._by = by

    def read(self, row: Blob) -> tuple[bool, Damage | None]:
        """Read a blob and record the result.

        Return whether the result is current, and the damage. It is out of date if the blob was deleted, moved or stored
        again since it was listed. Raises `StorageUnavailable` if the storage is not the one it was.
        """
        sums, backend = Checksums(), self._backends.get(row.storage)
        damage = partial(Damage, digest=row.digest, storage=row.storage, key=row.key)
        try:
            problem = find_row_damage(self._chains, backend, row, sums=sums, pace=self._pace)
        except UnreadableError as error:
            return True, damage(problem=str(error), is_marked=False)  # not recorded: the next run tries again
        if problem:
            self._presence.look_for_mark(row.storage)
        is_current = _record_result(self._database, row, problem, sums, self._by)
        return is_current, damage(problem=problem) if problem else None


def _record_result(database: Database, row: Blob, problem: str | None, sums: Checksums, by: By) -> bool:
    """Record the result, with the checksum of a sound blob. Return False if the blob was moved or deleted meanwhile."""
    if problem is None and row.damaged_at is None and database.write(lambda session: _note_sound(session, row, sums)):
        return True
    return database.write(lambda session: _note_change(session, row, problem, sums, by))


def _note_sound(session: Session, row: Blob, sums: Checksums) -> bool:
    """Record that a blob is still sound, by one statement. Return False if it was changed meanwhile."""
    change = update(Blob).where(Blob.id == row.id, Blob.key == row.key, Blob.damaged_at.is_(None))
    result = session.execute(change.values(verified_at=utc_now(), checksum=sums.checksum))
    return bool(cast(CursorResult[Any], result).rowcount)


def _note_change(session: Session, seen: Blob, problem: str | None, sums: Checksums, by: By) -> bool:
    """Record the result for a blob that is or was damaged, with an event if that has changed."""
    row = session.scalar(select(Blob).where(Blob.id == seen.id, Blob.key == seen.key).with_for_update())
    if row is None:
        return False
    was_damaged, row.verified_at = row.damaged_at is not None, utc_now()
    if problem is not None:
        row.damaged_at = row.verified_at
        if not was_damaged:
            record(session, blob_damaged(session, row, problem, by=by))
            verify_dependents(session, row.id)
        return True
    row.damaged_at, row.checksum = None, sums.checksum
    if was_damaged:
        record(session, blob_healed(session, row, by=by))
        verify_dependents(session, row.id)
    return True
