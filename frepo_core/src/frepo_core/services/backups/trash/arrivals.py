"""Says how much of a body may arrive before it is asked about again, where bodies arrive on the disk of the storage."""

import threading
import weakref
from collections.abc import Callable
from functools import partial

from frepo_core.db import Database
from frepo_core.domain.identity import By
from frepo_core.errors import RuleError, StorageFull, VersionConflictError

from ...base.records import CollectionRecord
from ...content.spool import Spool
from ...content.storages.storage_space import SLACK, StorageSpace
from ..rotation.newest_size import find_newest_size
from .early_ending import EarlyEnding
from .room_leases import RoomLeases
from .version_room import VersionRoom

STEP, STEP_PERCENT = 64 << 20, 1
# The trash gives way when less than this part of a step is free: the bodies that arrive divide it.
LOW_PART = 4
KEPT = "The storage is nearly full, and keeps what is in the trash: only versions are stored until more is free"
HELD = "The storage is nearly full, and what is in the trash does not give way to a collection that is on hold"


class Arrivals:
    """Bounds what open bodies may take from the disk of the storage.

    All that raises `StorageFull` here refuses the body; its bytes are deleted with it.
    """

    def __init__(self, database: Database, trash: EarlyEnding, space: StorageSpace, leases: RoomLeases) -> None:
        self._database = database
        self._trash = trash
        self._space = space
        self._leases = leases
        self._shares = RoomShares()

    def room(self, collection: CollectionRecord, by: By) -> VersionRoom:
        """Return the room of a new upload of a version, in the storage of its collection.

        The trash gives none to a collection that is on hold.
        """
        trash, space = self._trash, self._space
        if collection.storage is not None:
            trash, space = trash.of(collection.storage), space.of(collection.storage)
        gives = collection.hold is None
        find = partial(self._without_length, collection)
        return VersionRoom(trash, space, self._leases, collection.id, by, find, gives=gives)

    def require_room(self, size: int) -> None:
        """Raise `StorageFull` if a file of `size` bytes would leave less free than `trash.min_free`.

        It may use what is left if nothing in the trash would end for it.
        """
        self._require_room_left(self._space.still_needed(size))

    def make(self, size: int) -> bool:
        """Make no room: the trash gives way to versions only."""
        return False

    def next_step(self, body: Spool, announced: int, arrived: int) -> int | None:
        """Return up to how many bytes a body that is no version may arrive now; None: it needs none of this disk.

        `announced` is 0 for an unknown size.
        """
        if not self._space.has_temporary_files():
            return None
        left = max(announced - arrived, 0)
        self._require_room_left(left)
        step = min(self._step(), left or self._step())
        return self._shares.give(body, arrived=arrived, step=step, free=self._trash.free_for_files(step) - SLACK)

    def next_version_step(
        self, body: Spool, announced: int, arrived: int, *, room: VersionRoom, refuse_early: Callable[[], bool]
    ) -> int | None:
        """Return up to how many bytes the body of a version may arrive now; None as above.

        If the disk has little room for the next step, the trash gives way, to as many bytes as have arrived. If
        `refuse_early` refuses the version by an error, or returns False, it is treated as a file. So is a version that
        goes to another storage: the trash of that one does not give room here. And so is one of unknown size that has
        more than `VersionRoom.without_length` bytes.
        """
        if not self._space.has_temporary_files():
            return None
        free, left = self._space.free() or 0, max(announced - arrived, 0)
        step = min(self._step(), left or self._step())
        if is_tight := self._is_tight(step, left, free):
            allowed = left or room.without_length - arrived
            if not room.gives:
                self._require_room_left(left, HELD)
            if not room.gives or allowed <= 0 or room.storage != self._space.storage or not _accepts(refuse_early):
                return self.next_step(body, announced, arrived)
            step = min(step, allowed)
        _require_possible(self._trash, left, free)
        if is_tight and (missing := self._missing(step, free)) > 0:
            room.take(missing, arrived=arrived)
            free = self._space.free() or 0
        return self._shares.give(body, arrived=arrived, step=step, free=free - SLACK)

    def require_possible(self, collection: CollectionRecord, size: int) -> None:
        """Raise `StorageFull` if the storage has no room for a version of `size` bytes, even without its trash."""
        if (free := self._space.of(collection.storage).free()) is not None:
            _require_possible(self._trash.of(collection.storage), size, free)

    def spare(self, collection: CollectionRecord) -> int | None:
        """Return how many bytes can be stored before less than `trash.min_free` is free; None if that is unknown."""
        own = self._space.of(collection.storage)
        space = own.measure()
        return own.free() if space is None else max(space.free - space.needed, 0)

    def _without_length(self, collection: CollectionRecord) -> int:
        with self._database.reading() as session:
            newest = find_newest_size(session, collection.id) or 0
        return min(2 * newest, collection.limits.version_size or 2 * newest)

    def _is_tight(self, step: int, left: int, free: int) -> bool:
        return self._missing(step, free) > 0 or self._trash.is_kept_from(left)

    def _missing(self, step: int, free: int) -> int:
        """Return how many bytes must be freed before the next step."""
        return min(step, self._step() // LOW_PART) + SLACK - free

    def _require_room_left(self, size: int, text: str = KEPT) -> None:
        if self._trash.is_kept_from(size):
            raise StorageFull(text)

    def _step(self) -> int:
        return max(STEP, (self._space.total() or 0) * STEP_PERCENT // 100)


def _require_possible(trash: EarlyEnding, size: int, free: int) -> None:
    if free < size and free + trash.size() < size:
        raise StorageFull("The storage has no room for the announced size, even without its trash")


def _accepts(refuse_early: Callable[[], bool]) -> bool:
    try:
        return refuse_early()
    except (RuleError, VersionConflictError):
        return False


# A body is in memory up to this size at least: it can be asked about before it needs the disk.
MIN_STEP = 256 << 10
_PART = 4


class RoomShares:
    """Says up to which size each open body may arrive.

    A body gets a quarter of what no other one may still take, or a whole step where that is less: bodies that arrive
    together do not fill a disk that had room for the next step of each.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sizes: weakref.WeakKeyDictionary[Spool, int] = weakref.WeakKeyDictionary()

    def give(self, body: Spool, *, arrived: int, step: int, free: int) -> int:
        """Return up to how many bytes the body may arrive now, if `free` bytes may be taken by all."""
        with self._lock:
            taken = sum(other.still_takes(size) for other, size in self._sizes.items() if other is not body)
            size = arrived + max(min(step, (free - taken) // _PART), MIN_STEP)
            self._sizes[body] = size
            return size
