"""The spool: holds content while it arrives, and hashes it. A storage can link its unnamed file into place."""

import contextlib
import errno
import io
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from frepo_core.errors import StorageFull
from frepo_core.plugins import Checksums

from .held_bytes import HeldBytes
from .system_folder import system_folder

IN_MEMORY = 512 << 10
DISK_FULL_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
TEMPORARY_DISK_FULL = "The disk for temporary files has no room left"
_ADVICE = (
    "temp_directory (TEMP_DIRECTORY) must have room for all uploads that arrive at the same time: name a folder on a "
    "larger disk there, or free space on its disk"
)


class UnnamedFile(io.FileIO):
    """A file without a name, which vanishes when it is closed. `held` counts its bytes until then."""

    def __init__(self, directory: str | None, held: HeldBytes) -> None:
        super().__init__(open_unnamed(directory), "r+")
        self.length = 0
        self._held = held

    def write(self, data: Any) -> int:
        """Write all data at the end; return its size in bytes."""
        view = memoryview(data)
        while view:
            count = super().write(view)
            self._held.add(spooled=count)
            self.length += count
            view = view[count:]
        return len(data)

    def append(self, data: bytes) -> None:
        """Write at the end."""
        self.write(data)

    def close(self) -> None:
        """Delete the file."""
        if not self.closed:
            super().close()
            self._held.add(spooled=-self.length)


class SpoolFile(UnnamedFile):
    """An unnamed file that is hashed while it is written."""

    def __init__(self, directory: str | None, held: HeldBytes, workers: ThreadPoolExecutor) -> None:
        super().__init__(directory, held)
        self._sums = Checksums()
        self._hasher = BackgroundHasher(self.fileno(), workers, self._sums.update)

    def append(self, data: bytes) -> None:
        """Write at the end. The hash is computed in the background."""
        super().append(data)
        self._hasher.advance(self.length)

    def sums(self) -> Checksums:
        """Return the checksums of the whole content; waits for the part that is not hashed yet."""
        self._hasher.finish(self.length)
        return self._sums

    def close(self) -> None:
        """Wait for the hasher, then close the file: the system may reuse the descriptor for another file."""
        if not self.closed:
            self._hasher.stop()
            super().close()


class SpooledFile(tempfile.SpooledTemporaryFile[bytes]):
    """A file that is in memory while it is small, then in one that `new_file` opens."""

    def __init__(self, new_file: Callable[[], UnnamedFile]) -> None:
        super().__init__(max_size=IN_MEMORY)
        self._new_file = new_file

    def rollover(self) -> None:
        """Write the content to the disk."""
        spooled: Any = self  # the types of the standard library leave its attributes out
        if not spooled._rolled:
            memory, file = spooled._file, self._new_file()
            with _closed_on_error(file):
                file.write(memory.getvalue())
                file.seek(memory.tell())
            spooled._file, spooled._rolled = file, True


class MemoryBudget:
    """The memory, in bytes, that all spools of a process may take together: clients decide how long they keep it."""

    def __init__(self, size: int) -> None:
        self._left = size
        self._lock = threading.Lock()

    def take(self, count: int) -> bool:
        """Take bytes from the budget; return False if it has not as many."""
        with self._lock:
            is_enough = count <= self._left
            self._left -= count if is_enough else 0
            return is_enough

    def give_back(self, count: int) -> None:
        """Return bytes to the budget."""
        with self._lock:
            self._left += count


class Spool:
    """Content while it arrives: in memory up to `overflow` bytes, then in a file that `new_file` opens.

    If the budget is used up, the file is opened earlier. `room` is closed when the content is deleted.
    """

    room: Any = None

    _taken = 0
    _is_open = True

    def __init__(
        self, overflow: int, new_file: Callable[[bytes], UnnamedFile], budget: MemoryBudget | None = None
    ) -> None:
        self._overflow = overflow
        self._new_file = new_file
        self._budget = budget
        self._memory: io.BytesIO = io.BytesIO()
        self._file: UnnamedFile | None = None

    def append(self, data: bytes) -> None:
        """Add data at the end."""
        if self._file is None:
            if self._memory.tell() + len(data) <= self._overflow and self._take(len(data)):
                self._memory.write(data)
                return
            self._file = self._new_file(self._memory.getvalue())
            self._memory = io.BytesIO()
            self._give_back()
        self._file.append(data)

    def getfile(self) -> io.BytesIO | UnnamedFile:
        """Return the whole content as a file at its start."""
        body = self._file or self._memory
        body.seek(0)
        return body

    def close(self) -> None:
        """Delete the content."""
        self._is_open = False
        self._memory.close()
        self._give_back()
        if self._file is not None:
            self._file.close()
        if self.room is not None:
            self.room.close()

    def still_takes(self, size: int) -> int:
        """Return how many bytes are missing to `size`, 0 if it is closed. Another thread may append meanwhile."""
        with contextlib.suppress(ValueError):  # closed meanwhile
            return max(size - len(self), 0) if self._is_open else 0
        return 0

    def _take(self, count: int) -> bool:
        if self._budget is None:
            return True
        if not self._budget.take(count):
            return False
        self._taken += count
        return True

    def _give_back(self) -> None:
        if self._budget is not None:
            self._budget.give_back(self._taken)
            self._taken = 0

    def __del__(self) -> None:
        self._give_back()

    def __len__(self) -> int:
        return self._file.length if self._file is not None else self._memory.getbuffer().nbytes


def plain_file(directory: str | None, held: HeldBytes, workers: ThreadPoolExecutor | None, start: bytes) -> UnnamedFile:
    """Open a file for a content that begins with `start`. It is hashed in `workers`, if there are any."""
    file = SpoolFile(directory, held, workers) if workers else UnnamedFile(directory, held)
    with _closed_on_error(file):
        file.append(start)
    return file


@contextlib.contextmanager
def _closed_on_error(file: UnnamedFile) -> Iterator[None]:
    """Close the file if its disk has no room for its first bytes: nobody else knows it yet."""
    try:
        yield
    except BaseException:
        file.close()
        raise


def temporary_disk_full() -> StorageFull:
    """Return the error for a full disk for temporary files, with the advice for that disk and not for the storage."""
    return StorageFull(TEMPORARY_DISK_FULL, explanation=_ADVICE)


def open_unnamed(directory: str | None) -> int:
    """Open a file without a name that can be linked later (O_TMPFILE); if the system cannot, open and unlink one."""
    folder = directory or system_folder()
    with contextlib.suppress(OSError, AttributeError):
        return os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    descriptor, name = tempfile.mkstemp(dir=folder)
    os.unlink(name)
    return descriptor


MIN_BATCH = 8 << 20
MAX_BATCH = 64 << 20
BLOCK = 256 << 10


class BackgroundHasher:
    """Passes a growing file to `update`, in order and a batch at a time, so that many files can share the pool."""

    def __init__(self, descriptor: int, workers: ThreadPoolExecutor, update: Callable[[bytes], object]) -> None:
        self._descriptor = descriptor
        self._workers = workers
        self._update = update
        self._hashed = 0
        self._written = 0
        self._batch: Future[None] | None = None
        self._lock = threading.Lock()
        self._stopped = False

    def advance(self, written: int) -> None:
        """Report that the first `written` bytes are in the file. A batch starts once enough of them are not hashed."""
        with self._lock:
            self._written = written
            if self._batch is None and not self._stopped and written - self._hashed >= MIN_BATCH:
                self._batch = self._workers.submit(self._hash_batch)

    def finish(self, written: int) -> None:
        """Hash the rest in the caller's thread."""
        self.stop()
        self._hash_until(written)

    def stop(self) -> None:
        """Start no further batch, and wait for the one that is running."""
        with self._lock:
            self._stopped = True
            batch = self._batch
        if batch is not None and not batch.cancel():
            wait([batch])

    def _hash_batch(self) -> None:
        """Hash what is written, at most `MAX_BATCH` bytes, so that the batches of other files get their share."""
        end = min(self._written, self._hashed + MAX_BATCH)
        self._hash_until(end - end % BLOCK)
        with self._lock:
            more = not self._stopped and self._written - self._hashed >= MIN_BATCH
            self._batch = self._workers.submit(self._hash_batch) if more else None

    def _hash_until(self, end: int) -> None:
        while self._hashed < end and (
            block := os.pread(self._descriptor, min(BLOCK, end - self._hashed), self._hashed)
        ):
            self._update(block)
            self._hashed += len(block)
