"""Measures the room in the storage for new blobs: whether as much is free as `trash.min_free` requires."""

from dataclasses import dataclass

from frepo_core.domain.sizes import parse_free_space, readable_size
from frepo_core.errors import StorageFull
from frepo_core.settings import Settings

from ..blobs.backends import Backends


@dataclass(frozen=True, kw_only=True)
class Space:
    """The room in a storage, in bytes. `needed` is how much of it must be free."""

    free: int
    needed: int

    @property
    def missing(self) -> int:
        """How much more would have to be free; 0 if it is enough."""
        return max(0, self.needed - self.free)


class StorageSpace:
    """The room in the storage for new blobs."""

    def __init__(self, backends: Backends, settings: Settings) -> None:
        self._backends = backends
        self._limit = parse_free_space(settings.trash_min_free)
        self._is_on = bool(settings.trash_keep)

    @property
    def storage(self) -> str:
        """The name of the storage for new blobs."""
        return self._backends.current

    def free(self) -> int | None:
        """Return the free bytes, None if the storage cannot tell. Raises `StorageError`."""
        return self._backends.get(self.storage).free_space()

    def measure(self) -> Space | None:
        """Return the room, None if the storage cannot tell it, or if none is required. Raises `StorageError`."""
        if not self._limit.percent and not self._limit.size:
            return None
        backend = self._backends.get(self.storage)
        free = backend.free_space()
        needed = self._limit.bytes_of(backend.total_space() if self._limit.percent else None)
        return None if free is None or needed is None else Space(free=free, needed=needed)

    def check(self) -> None:
        """Raise `StorageFull` if less is free than required. What is deleted is not kept for its time then."""
        space = self.measure() if self._is_on else None
        if space is not None and space.missing:
            raise StorageFull(
                f"The storage {self.storage} has {readable_size(space.free)} free, trash.min_free requires "
                f"{readable_size(space.needed)}: evicted versions are deleted before trash.keep is over. Enlarge the storage, "
                "or delete what is not needed"
            )
