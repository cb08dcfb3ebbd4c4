"""Makes room in the storage: what is in the trash ends early while the storage has less than `trash.min_free` free."""

import logging
from collections.abc import Callable, Sequence
from functools import partial

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import OBJECT_SIZE, Content, StoredObject, TrashEntry
from frepo_core.domain.identity import By
from frepo_core.domain.sizes import readable_size
from frepo_core.domain.structs import struct

from ...content.blobs.lifecycle import Blobs
from ...content.held_bytes import HeldBytes
from ...content.objects.decodable import find_dependents
from ...content.objects.gate import lock_contents
from ...content.objects.necessity import is_waiting
from ...content.objects.states import CURRENT
from ...content.storages.storage_space import StorageSpace
from .ending_order import is_of_others, may_end, measure_size, select_next
from .entries import EndReason, end_entries

log = logging.getLogger(__name__)

BATCH = 100
# With more room than this, it does not matter whether the trash holds anything.
MANY_STEPS = 16


@struct
class Freed:
    """How many versions have ended early, and the bytes that this has freed."""

    versions: int = 0
    size: int = 0


class EarlyEnding:
    """Ends entries of the trash early, so that one storage has room, by default the first one."""

    def __init__(self, database: Database, blobs: Blobs, space: StorageSpace, held: HeldBytes) -> None:
        self._held = held
        self._database = database
        self._blobs = blobs
        self._space = space

    def of(self, storage: str | None) -> "EarlyEnding":
        """Return the same for another storage; None: for the first one."""
        return EarlyEnding(self._database, self._blobs, self._space.of(storage), self._held)

    def keep_free(self, *, by: By, keep_going: Callable[[], None] = lambda: None) -> Freed:
        """End entries until the required room is free, or none can be ended. `keep_going` is called before each blob.

        Bytes of uploads that are not committed count as free: they may be given back.
        """
        held = self._held.total()  # before the disk: what is given back meanwhile must not be missing in both
        space = self._space.measure()
        if space is None:
            return Freed()
        spooled = held.spooled if self._space.has_temporary_files() else 0
        missing = max(0, space.missing - held.storing - spooled)
        return self.give_way(missing, by=by, keep_going=keep_going, reads=True) if missing else Freed()

    def give_way(
        self, size: int, *, by: By, keep_going: Callable[[], None] = lambda: None, reads: bool = False
    ) -> Freed:
        """End what was superseded, then entries, until `size` bytes are freed, or none can be ended.

        With `reads`, what replaces an object is read before. A request does not wait for that.
        """
        storage = self._space.storage
        freed = self._blobs.gate.delete_superseded(storage, size, keep_going=keep_going, reads=reads).size
        versions, before, first = 0, -1, self._blobs.backends.current
        while freed < size and versions != before and (candidates := self._candidates()):
            before = versions
            for content_id, _ in candidates:
                keep_going()
                ended = self._database.write(
                    partial(_end, content_id=content_id, storage=storage, first=first, by=by), may_use_reserve=True
                )
                self._blobs.collect(ended.content_ids)
                versions, freed = versions + ended.versions, freed + ended.size
                if freed >= size:
                    break
        if versions:
            size_text = readable_size(freed)
            log.warning("the storage is nearly full: %s versions in the trash ended early, %s", versions, size_text)
        return Freed(versions=versions, size=freed)

    def is_kept_from(self, size: int) -> bool:
        """Return whether `size` more bytes would leave less free than required, and the trash holds bytes to delete."""
        space = self._space.measure()
        return space is not None and space.free - size < space.needed and bool(self._candidates(1))

    def free_for_files(self, step: int) -> int:
        """Return how many bytes files may use before they are asked about again, after `step` bytes each."""
        space = self._space.measure()
        if space is None:
            return self._space.free() or 0
        spare = space.free - space.needed
        return spare if spare >= MANY_STEPS * step or self._candidates(1) else space.free

    def size(self) -> int:
        """Return how many bytes are freed if all ends that may end early."""
        with self._database.reading() as session:
            return measure_size(session, self._space.storage, self._blobs.backends.current)

    def _candidates(self, count: int = BATCH) -> list[tuple[int, int]]:
        """Return the ids and sizes of the contents that end next: none while no bytes may be deleted."""
        journals, storage = self._blobs.backends.journals, self._space.storage
        journals.compare([storage])
        with self._database.reading() as session:
            if is_waiting(session, self._blobs.backends) or not journals.is_compared(storage):
                return []
            query = select_next(session, storage, self._blobs.backends.current, count)
            return [(content_id, size) for content_id, size in session.execute(query)]


@struct
class _Ended:
    """How many entries have ended, and the blobs with their size in bytes that these have used."""

    versions: int = 0
    content_ids: Sequence[int] = ()
    size: int = 0


def _end(session: Session, *, content_id: int, storage: str, first: str, by: By) -> _Ended:
    """End all entries that use a content, and those that use what depends on it, unless one of them may not end."""
    digest = session.scalar(select(Content.digest).where(Content.id == content_id)) or ""
    above = [row.content_id for level in find_dependents(session, digest, storage) for row in level]
    ids = sorted({content_id, *(one for one in above if one is not None)})
    lock_contents(session, ids)
    current = (StoredObject.content_id.in_(ids), StoredObject.storage == storage, StoredObject.slot == CURRENT)
    size = int(session.scalar(select(func.sum(OBJECT_SIZE)).where(*current)) or 0)
    alone = content_id if ids == [content_id] else None
    may_all = (may_end(session, alone), ~is_of_others(storage, first))
    may = session.scalars(select(Content.id).where(Content.id.in_(ids), *may_all)).all()
    if len(may) != len(ids):
        return _Ended()
    entries = select(TrashEntry).where(TrashEntry.content_id.in_(ids)).order_by(TrashEntry.id).with_for_update()
    rows = session.scalars(entries).all()
    ended = end_entries(session, rows, EndReason.NO_SPACE, now=utc_now(), by=by)
    return _Ended(versions=len(ended), content_ids=ids, size=size) if ended else _Ended()
