"""The running digests of open uploads. They go on while parts arrive, and are computed again after a restart."""

import threading
from collections.abc import Callable

from frepo_core.plugins import Checksums, StorageUnavailable

from ..session import Upload
from .part_file import PartFile

BLOCK = 1 << 20
# What an upload that another process has ended leaves here is small, and goes when there are so many.
MAX_KNOWN = 1000


class Digests:
    """What this process has hashed of each upload: its first bytes up to one that was acknowledged."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, tuple[int, Checksums]] = {}

    def at(self, upload: str, offset: int) -> Checksums | None:
        """Return a copy of the sums of the first `offset` bytes; None if this process does not know them."""
        with self._lock:
            hashed, sums = self._known.get(upload, (0, Checksums()))
            return sums.copy() if hashed == offset else None

    def keep(self, upload: str, offset: int, sums: Checksums) -> None:
        """Remember the sums of the first `offset` bytes."""
        with self._lock:
            self._known[upload] = offset, sums.copy()
            if len(self._known) > MAX_KNOWN:
                del self._known[next(iter(self._known))]

    def forget(self, upload: str) -> None:
        """Forget an upload that has ended."""
        with self._lock:
            self._known.pop(upload, None)

    def complete(
        self, upload: Upload, file: PartFile, known: Checksums | None, progress: Callable[[int], None]
    ) -> Checksums:
        """Return the sums of all bytes of an upload. What this process has not hashed yet is read.

        `known` are the sums of all bytes, if the request that received the last ones has them. `progress` is called
        with the number of hashed bytes.
        """
        size = upload.length or 0
        if known is not None:
            return known
        with self._lock:
            hashed, sums = self._known.get(upload.id, (0, Checksums()))
            sums = sums.copy()
        while hashed < size:
            block = file.read(hashed, min(BLOCK, size - hashed))
            if not block:
                raise StorageUnavailable("The file of an upload in parts is shorter than it was")
            sums.update(block)
            hashed += len(block)
            progress(hashed)
        if upload.offset == size:  # otherwise the last part may be sent again
            self.keep(upload.id, size, sums)
        return sums
