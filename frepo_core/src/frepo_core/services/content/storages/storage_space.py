"""Measures the room in a storage: whether as much is free as `trash.min_free` requires."""

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from frepo_core.domain.sizes import parse_free_space, readable_size
from frepo_core.domain.structs import struct
from frepo_core.errors import FrepoError, StorageError, StorageFull
from frepo_core.settings import Settings

from ..system_folder import system_folder
from .backends import Backends
from .write_guard import Presence

# The share of the disk by which its free bytes may differ between two looks: they change all the time.
_SAME = 0.01
# A storage with this much more room than an upload needs did not refuse it for its room. Names and blocks need some.
SLACK = 1 << 20


@struct
class Space:
    """The room in a storage, in bytes. `needed` is how much of it must be free."""

    free: int
    needed: int

    @property
    def missing(self) -> int:
        """How much more would have to be free; 0 if it is enough."""
        return max(0, self.needed - self.free)


def read_free_space(backends: Backends, storage: str) -> int | None:
    """Return the free bytes of a storage, None if it cannot tell. Raises `StorageError`."""
    return backends.get(storage).free_space()


def find_free_space(backends: Backends, storage: str) -> int | None:
    """Return the free bytes of a storage, None if it cannot tell or does not answer: a health check reports that."""
    with contextlib.suppress(FrepoError):
        return read_free_space(backends, storage)
    return None


def find_total_space(backends: Backends, storage: str) -> int | None:
    """Return the size of the empty storage in bytes, None as above."""
    with contextlib.suppress(FrepoError):
        return backends.get(storage).total_space()
    return None


def temporary_folder(settings: Settings) -> Path:
    """Return the folder for temporary files."""
    return settings.temp_directory or Path(system_folder())


def free_on_disk(folder: Path) -> int:
    """Return the free bytes of the disk of a folder, which may not exist yet."""
    return shutil.disk_usage(folder if folder.exists() else folder.parent).free


class StorageSpace:
    """The room in one storage, by default in the first one."""

    def __init__(
        self, backends: Backends, presence: Presence, settings: Settings, *, storage: str | None = None
    ) -> None:
        self._settings = settings
        self._storage = storage
        self._presence = presence
        self._temporary = temporary_folder(settings)
        self._backends = backends
        self._limit = parse_free_space(settings.trash_min_free)
        self._is_on = bool(settings.trash_keep)

    @property
    def storage(self) -> str:
        """The name of the storage."""
        return self._storage or self._backends.current

    def of(self, storage: str | None) -> "StorageSpace":
        """Return the room in another storage; None: in the first one."""
        if storage == self._storage:
            return self
        return StorageSpace(self._backends, self._presence, self._settings, storage=storage)

    def free(self) -> int | None:
        """Return the free bytes, None if the storage cannot tell. Raises `StorageError`."""
        return self._ask(read_free_space)

    def total(self) -> int | None:
        """Return the size of the empty storage in bytes, None if the storage cannot tell. Raises `StorageError`."""
        return self._ask(lambda backends, storage: backends.get(storage).total_space())

    def measure(self) -> Space | None:
        """Return the room; None if it is unknown, or no free space is required. Raises `StorageError`."""
        if not self._limit.percent and not self._limit.size:
            return None
        free = self.free()
        needed = self._limit.bytes_of(self.total() if self._limit.percent else None)
        return None if free is None or needed is None else Space(free=free, needed=needed)

    def has_temporary_files(self) -> bool:
        """Return whether the folder for temporary files is on the disk of the storage.

        A storage that shows no local file is asked for its sizes: two disks of one size are the same one if about as
        much is free.
        """
        if (file := self._presence.find_file(self.storage)) is not None:
            with contextlib.suppress(OSError):  # uploads fail, with a better message
                return os.stat(file).st_dev == os.stat(self._temporary).st_dev
        return self._has_same_size()

    def _ask(self, question: Callable[[Backends, str], int | None]) -> int | None:
        asked = self.storage
        try:
            return question(self._backends, asked)
        except StorageError:  # it may be lost, and another one promoted meanwhile
            self._presence.follow_promotion()
            if self.storage == asked:
                raise
        return question(self._backends, self.storage)

    def _has_same_size(self) -> bool:
        total, free = self.total(), self.free()
        if total is None or free is None:
            return False
        try:
            found = os.statvfs(self._temporary)
        except OSError:  # uploads fail, with a better message
            return False
        same = (found.f_blocks - found.f_bfree + found.f_bavail) * found.f_frsize == total
        return same and abs(found.f_bavail * found.f_frsize - free) <= total * _SAME

    def still_needed(self, size: int) -> int:
        """Return how many more bytes storing `size` bytes needs: 0 if they are on this disk already."""
        return 0 if not size or self.has_temporary_files() else size

    def check(self) -> None:
        """Raise `StorageFull` if less is free than required. What is deleted is not kept for its time then."""
        space = self.measure() if self._is_on else None
        if space is not None and space.missing:
            raise StorageFull(
                f"The storage {self.storage} has {readable_size(space.free)} free, trash.min_free requires "
                f"{readable_size(space.needed)}: evicted versions are deleted before trash.keep is over. Enlarge the "
                "storage, or delete what is not needed"
            )
