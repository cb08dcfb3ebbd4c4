"""The running digests of open uploads: what was acknowledged is hashed while the next part arrives."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from frepo_core.plugins import Checksums, StorageUnavailable

from ..session import Upload
from .part_file import PartFile

# At the end, many uploads may be hashed at once.
BLOCK = 1 << 20
# Between two blocks one of the few threads waits for those that receive: with small ones it would fall behind.
LARGE_BLOCK = 2 << 20
# What an upload that another process has ended leaves here is small, and goes when there are so many.
MAX_KNOWN = 1000
THREADS = 2


@dataclass
class _Hashing:
    """The sums of the first `hashed` bytes of an upload. `acknowledged` is how far they may go."""

    sums: Checksums = field(default_factory=Checksums)
    hashed: int = 0
    acknowledged: int = 0
    is_running: bool = False


class Digests:
    """What this process has hashed of each upload: never more than was acknowledged, as the rest may be sent anew."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._known: dict[str, _Hashing] = {}
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="frepo-uploads-digests")

    def follow(self, upload: str, path: Path, begin: int, end: int) -> None:
        """Hash bytes that were acknowledged, in another thread, if this process knows the sums of those before."""
        with self._changed:
            hashing = self._known.setdefault(upload, _Hashing())
            if hashing.acknowledged != begin:
                return
            hashing.acknowledged = end
            if not hashing.is_running:
                hashing.is_running = True
                self._threads.submit(self._hash, hashing, path)
            if len(self._known) > MAX_KNOWN:
                del self._known[next(iter(self._known))]

    def forget(self, upload: str) -> None:
        """Forget an upload that has ended."""
        with self._changed:
            self._known.pop(upload, None)

    def complete(self, upload: Upload, file: PartFile, progress: Callable[[int], None]) -> Checksums:
        """Return the sums of all bytes of an upload. What this process has not hashed yet is read.

        `progress` is called with the number of hashed bytes.
        """
        size = upload.length or 0
        with self._changed:
            hashing = self._known.get(upload.id, _Hashing())
            self._changed.wait_for(lambda: not hashing.is_running)
            hashed, sums = hashing.hashed, hashing.sums.copy()
        while hashed < size:
            block = file.read(hashed, min(BLOCK, size - hashed))
            if not block:
                raise StorageUnavailable("The file of an upload in parts is shorter than it was")
            sums.update(block)
            hashed += len(block)
            progress(hashed)
        return sums

    def _hash(self, hashing: _Hashing, path: Path) -> None:
        """Hash until all that was acknowledged is hashed. If the file cannot be read, `complete` says why."""
        try:
            with open(path, "rb", buffering=0) as file:
                while left := self._left(hashing):
                    block = os.pread(file.fileno(), min(LARGE_BLOCK, left), hashing.hashed)
                    if not block:
                        raise EOFError
                    hashing.sums.update(block)
                    hashing.hashed += len(block)
        except Exception:  # noqa: BLE001
            self._stop(hashing)

    def _left(self, hashing: _Hashing) -> int:
        """Return how many bytes are to be hashed now. At 0, the hashing has ended."""
        with self._changed:
            left = hashing.acknowledged - hashing.hashed
            if not left:
                self._stop(hashing)
            return left

    def _stop(self, hashing: _Hashing) -> None:
        with self._changed:
            hashing.is_running = False
            self._changed.notify_all()
