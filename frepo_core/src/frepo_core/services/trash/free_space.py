"""Makes room in the storage: what is in the trash ends early while the storage has less than `trash.min_free` free.

Versions that were created last end first, because all that an attacker or a runaway script adds is younger than the good
versions. Those that a person has deleted end after all evicted ones. Bytes are freed only with the last entry that uses
them, so the entries of one blob end together, when it is the turn of the one that ends last. An entry whose bytes a
version or a file uses is passed over.
"""

import logging
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob, TrashEntry
from frepo_core.domain.identity import By
from frepo_core.errors import FrepoError, RuleError, VersionConflictError

from ..blobs.blob_use import is_used_by_file
from ..blobs.lifecycle import Blobs
from .entries import EndReason, end_entries
from .removal import ON_REQUEST
from .storage_space import StorageSpace

log = logging.getLogger(__name__)

BATCH = 100
# A storage with this much more room than an upload needs did not refuse it for its room. Names and blocks need some.
SLACK = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Freed:
    """How many versions have ended early, and the bytes that this has freed."""

    versions: int = 0
    size: int = 0


class TrashSpace:
    """Ends entries of the trash early, so that the storage for new blobs has room."""

    def __init__(self, database: Database, blobs: Blobs, space: StorageSpace, temporary: Path | None) -> None:
        """`temporary` is the folder in which bodies arrive, None: the system's."""
        self._temporary = temporary or Path(tempfile.gettempdir())
        self._database = database
        self._blobs = blobs
        self._space = space

    def keep_free(self, *, by: By, check: Callable[[], None] = lambda: None) -> Freed:
        """End entries until the required room is free, or none can be ended. `check` is called before each blob."""
        space = self._space.measure()
        return self.give_way(space.missing, by=by, check=check) if space is not None and space.missing else Freed()

    def make_room(self, size: int, by: By) -> bool:
        """End entries after the storage refused an upload of `size` bytes as full; return whether that has freed any.

        Nothing ends if the storage can tell that it has room for it, because the refusal has another reason then, or that
        it has none even without the trash. Never raises.
        """
        try:
            free = self._space.free()
            if free is not None and (free >= size + SLACK or free + self._size() < size):
                return False
            return self.give_way(max(size - (free or 0), 1), by=by).versions > 0
        except FrepoError:
            log.exception("the trash could not give way to an upload of %s bytes", size)
            return False

    def prepare(self, size: int, *, by: By, check: Callable[[], None] = lambda: None) -> None:
        """End entries before a body of `size` bytes arrives, which the disk for temporary files has no room for.

        Only if that is the disk of the storage, or the storage has no room for it, either; and only if ending entries makes
        enough room: otherwise, the announcement of a large body would empty the trash. `check` is called before; nothing
        ends if it raises that the body will be refused. Never raises.
        """
        try:
            if shutil.disk_usage(self._temporary).free < size:
                free = self._space.free()
                if free is not None and free < size <= free + self._size():
                    check()
                    self.give_way(size - free, by=by)
        except (RuleError, VersionConflictError):
            log.info("the trash does not give way to a body of %s bytes, which will be refused", size)
        except (FrepoError, OSError):
            log.exception("the trash could not give way to a body of %s bytes", size)

    def recover(self, *, by: By) -> None:
        """End entries until the required room is free, after a body of unknown size has filled the disk. Never raises."""
        try:
            self.keep_free(by=by)
        except FrepoError:
            log.exception("the trash could not give way after a body filled the disk")

    def give_way(self, size: int, *, by: By, check: Callable[[], None] = lambda: None) -> Freed:
        """End entries until `size` bytes are freed, or none can be ended."""
        versions = freed = 0
        while freed < size and (candidates := self._candidates()):
            for blob_id, blob_size in candidates:
                check()
                ended = self._database.write(partial(_end, blob_id=blob_id, by=by), may_use_reserve=True)
                self._blobs.collect([blob_id] if ended else [])
                versions, freed = versions + ended, freed + (blob_size if ended else 0)
                if freed >= size:
                    break
        if versions:
            log.warning("the storage is nearly full: %s versions in the trash ended early, %s bytes", versions, freed)
        return Freed(versions=versions, size=freed)

    def _size(self) -> int:
        """Return how many bytes only the trash uses."""
        is_in_trash = select(TrashEntry.id).where(TrashEntry.blob_id == Blob.id).exists()
        query = select(func.sum(Blob.size)).where(Blob.storage == self._space.storage, is_in_trash, ~is_used_by_file())
        with self._database.reading() as session:
            return int(session.scalar(query) or 0)

    def _candidates(self) -> list[tuple[int, int]]:
        """Return the ids and sizes of the blobs that only the trash uses, those that end next first."""
        on_request = case((TrashEntry.reason.in_([reason.value for reason in ON_REQUEST]), 1), else_=0)
        query = (
            select(Blob.id, Blob.size)
            .join(TrashEntry, TrashEntry.blob_id == Blob.id)
            .where(Blob.storage == self._space.storage, ~is_used_by_file())
            .group_by(Blob.id, Blob.size)
            .order_by(func.max(on_request), func.min(TrashEntry.created_at).desc(), Blob.id.desc())
            .limit(BATCH)
        )
        with self._database.reading() as session:
            return [(blob_id, size) for blob_id, size in session.execute(query)]


def _end(session: Session, *, blob_id: int, by: By) -> int:
    """End all entries that use a blob, unless a file uses it, too; return their number."""
    session.execute(select(Blob.id).where(Blob.id == blob_id).with_for_update())
    if session.scalar(select(Blob.id).where(Blob.id == blob_id, is_used_by_file())):
        return 0
    entries = select(TrashEntry).where(TrashEntry.blob_id == blob_id).order_by(TrashEntry.id).with_for_update()
    rows = session.scalars(entries).all()
    return len(end_entries(session, rows, EndReason.NO_SPACE, now=utc_now(), by=by))
