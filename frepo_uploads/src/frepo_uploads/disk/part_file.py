"""The file of an open upload on the disk: one writer at a time, and nothing acknowledged that is not synced."""

import contextlib
import errno
import fcntl
import io
import os
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

from frepo_core.plugins import StorageFull, StorageUnavailable

BLOCK = 1 << 20
# The disk begins to write when so many more bytes have arrived. So the sync of a part waits for its last bytes only.
EARLY = 4 << 20
DATA, LOCK = ".part", ".lock"
# A request that writes, and got nothing for so many seconds, gives way to another: its client has come back.
SILENCE = 10.0
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class InUseError(Exception):
    """Another request writes to the file."""


class WriterLostError(Exception):
    """Another request has taken the file over, because this one was silent."""


class FileLostError(Exception):
    """The file is missing, or shorter than what was acknowledged."""


class PartFile:
    """The file of one upload, with the lock of its writer.

    The lock is a flock of a file next to it, which ends with its process. It belongs to the writer while that file
    still has its name: who takes over from a silent writer puts another file there. `offset` is where the next byte is
    written; `taken_over` is whether there was a silent writer.
    """

    def __init__(self, folder: Path, upload: str, *, offset: int, is_new: bool = False) -> None:
        """Take the lock, and cut what was written after `offset` and never acknowledged.

        Raises `InUseError`, `FileLostError`, `StorageFull` or `StorageUnavailable`.
        """
        self._path, self._lock_path = folder / f"{upload}{DATA}", folder / f"{upload}{LOCK}"
        self.offset, self.taken_over, self._begun = offset, False, offset
        with translated():
            self._data = self._open_data(is_new)
            self._open: tuple[int, ...] = (self._data,)
            try:
                self._lock = self._take_lock()
                self._open = self._lock, self._data
                self._cut()
                if is_new:
                    sync_folder(folder)
            except BaseException:
                self.close()
                raise

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self._path

    def write(self, piece: bytes | memoryview) -> None:
        """Append bytes. Raises `WriterLostError`, `StorageFull` or `StorageUnavailable`."""
        with translated(), self._alone():
            view = memoryview(piece)
            position = self.offset
            while view:
                count = os.pwrite(self._data, view, position)
                view, position = view[count:], position + count
            self.offset = position
            if position - self._begun >= EARLY:
                # Linux begins to write what it is told to forget, without a wait, and forgets nothing unwritten.
                os.posix_fadvise(self._data, self._begun, position - self._begun, os.POSIX_FADV_DONTNEED)
                self._begun = position

    def sync(self) -> int:
        """Bring everything to the disk; return how many bytes there are."""
        with translated():
            os.fdatasync(self._data)
        return self.offset

    def require_lock(self) -> None:
        """Raise `WriterLostError` if another request has taken over."""
        with translated(), self._alone():
            pass

    def read(self, start: int, size: int) -> bytes:
        """Return bytes from `start` on, fewer at the end."""
        with translated():
            return os.pread(self._data, size, start)

    def stream(self, size: int, progress: Callable[[int], None]) -> BinaryIO:
        """Return the first `size` bytes as a stream. `progress` is called with the number of bytes read."""
        return cast(BinaryIO, io.BufferedReader(_Stream(self, size, progress), BLOCK))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the lock. The file stays. It may be closed already."""
        open_ones, self._open = self._open, ()
        for descriptor in open_ones:
            os.close(descriptor)

    def _open_data(self, is_new: bool) -> int:
        flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
        if is_new:
            return os.open(self._path, flags | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            return os.open(self._path, flags)
        except FileNotFoundError:
            raise FileLostError from None

    def _take_lock(self) -> int:
        for _ in range(5):
            lock = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(lock)
                return self._take_over()
            if _is_at(lock, self._lock_path):
                return lock
            os.close(lock)  # somebody has put another file there meanwhile
        raise InUseError

    def _take_over(self) -> int:
        """Put a lock of one's own in the place of that of a writer that is silent. Raises `InUseError`."""
        if time.time() - os.fstat(self._data).st_mtime < SILENCE:
            raise InUseError
        own = self._lock_path.with_name(f"{uuid.uuid4().hex}{LOCK}")
        lock = os.open(own, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        with _flocked(self._data):
            os.utime(self._data)  # the next one finds a writer that is not silent
            os.rename(own, self._lock_path)
        self.taken_over = True
        return lock

    def _cut(self) -> None:
        with self._alone():
            size = os.fstat(self._data).st_size
            if size < self.offset:
                raise FileLostError
            if os.fstat(self._data).st_nlink > 1:
                self._copy()
            elif size > self.offset:
                os.ftruncate(self._data, self.offset)

    def _copy(self) -> None:
        """Continue in a copy: a storage has taken the file, and a crash came before the commit that would say so."""
        own = self._path.with_name(f"{uuid.uuid4().hex}{DATA}")
        copy = os.open(own, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            position = 0
            while position < self.offset and (block := self.read(position, min(BLOCK, self.offset - position))):
                position += os.pwrite(copy, block, position)
            os.fdatasync(copy)
            fcntl.flock(copy, fcntl.LOCK_EX)
            os.rename(own, self._path)
        except BaseException:
            os.close(copy)
            own.unlink(missing_ok=True)
            raise
        os.dup2(copy, self._data, inheritable=False)
        os.close(copy)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep others from taking over meanwhile. Raises `WriterLostError` if one has."""
        with _flocked(self._data):
            if not _is_at(self._lock, self._lock_path):
                raise WriterLostError
            yield


class _Stream(io.RawIOBase):
    """Reads a file of parts from its start."""

    def __init__(self, file: PartFile, size: int, progress: Callable[[int], None]) -> None:
        self._file, self._size, self._progress = file, size, progress
        self._position = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        block = self._file.read(self._position, min(len(buffer), self._size - self._position))
        if not block and self._position < self._size:
            raise StorageUnavailable("The file of an upload in parts is shorter than it was")
        buffer[: len(block)] = block
        self._position += len(block)
        self._progress(self._position)
        return len(block)


def is_in_use(folder: Path, upload: str) -> bool:
    """Return whether a request of any process has the file of an upload."""
    try:
        lock = os.open(folder / f"{upload}{LOCK}", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def delete(folder: Path, upload: str) -> None:
    """Delete the files of an upload. A writer that still has them notices at its next piece."""
    for suffix in (LOCK, DATA):
        with contextlib.suppress(FileNotFoundError):
            (folder / f"{upload}{suffix}").unlink()


def make_folder(folder: Path) -> None:
    """Make a folder for this user alone, and those above it that are missing; bring their names to the disk."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True, mode=0o700)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Raise an `OSError` as one of the service's errors."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise StorageFull("The disk for uploads in parts has no room left") from error
        raise StorageUnavailable(f"The folder for uploads in parts: {error.strerror}") from error


def _is_at(descriptor: int, path: Path) -> bool:
    """Return whether the open file still has this name."""
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    return False


@contextlib.contextmanager
def _flocked(descriptor: int) -> Iterator[None]:
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
