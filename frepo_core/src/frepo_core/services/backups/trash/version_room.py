"""The room that the trash gives to one upload of a version: for bytes that have arrived, not for announced ones."""

from collections.abc import Callable
from functools import cached_property

from frepo_core.domain.identity import By
from frepo_core.errors import StorageFull

from ...base.lease import Lease
from ...content.storages.storage_space import SLACK, StorageSpace
from .early_ending import EarlyEnding
from .room_leases import RoomLeases


class VersionRoom:
    """The room of one upload of a version, until its commit. `close` it at the end, from any thread."""

    def __init__(
        self,
        trash: EarlyEnding,
        space: StorageSpace,
        leases: RoomLeases,
        collection_id: str,
        by: By,
        find_without_length: Callable[[], int],
        *,
        gives: bool = True,
    ) -> None:
        """`find_without_length` is asked once, for `without_length`. The trash gives nothing without `gives`."""
        self.gives = gives
        self._trash = trash
        self._space = space
        self._leases = leases
        self._collection_id = collection_id
        self._by = by
        self._find_without_length = find_without_length
        self._lease: Lease | None = None
        self._is_open = True
        self._taken = 0
        self.is_low = False

    @property
    def storage(self) -> str:
        """The name of the storage that gives the room."""
        return self._space.storage

    @cached_property
    def without_length(self) -> int:
        """To how many bytes of a body the trash gives way that does not say its size.

        Twice the newest version of the collection, or its limit for a version if that is less.
        """
        return self._find_without_length()

    @property
    def has_taken(self) -> bool:
        """Whether anything in the trash has ended for this upload."""
        return self._taken > 0

    def require_room(self, size: int) -> None:
        """Note whether `size` more bytes would leave too little free. A version in quarantine or on hold is refused."""
        self.is_low = self._trash.is_kept_from(self._space.still_needed(size))

    def make(self, size: int) -> bool:
        """Make room after the storage refused an upload of `size` bytes as full; return whether there is more.

        Nothing ends if the storage can tell that it has room, because the refusal has another reason then, or that it
        has none even without the trash. Raises `StorageFull` if another upload of the collection makes room.
        """
        free = self._space.free()
        if free is not None and (free >= size + SLACK or free + self._trash.size() < size):
            return False
        return self.take(max(size - (free or 0), 1), arrived=size)

    def take(self, size: int, *, arrived: int) -> bool:
        """End entries of the trash for `size` bytes, and for no more than have arrived; return whether one ended."""
        size = min(size, arrived - self._taken)
        if size <= 0 or not self.gives:
            return False
        if self._lease is None or not self._lease.is_held:
            self._lease = self._leases.acquire(self._collection_id, lambda: self._is_open)
        freed = self._trash.give_way(size, by=self._by, keep_going=self._require_open)
        self._taken += freed.size
        return freed.versions > 0

    def close(self) -> None:
        """End the upload. Never waits."""
        self._is_open = False
        if self._lease is not None:
            self._leases.wake()

    def _require_open(self) -> None:
        if not self._is_open:
            raise StorageFull("The upload has ended")
