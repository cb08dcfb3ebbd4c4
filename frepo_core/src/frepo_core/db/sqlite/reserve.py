"""Reserves disk space for deletions: on a full disk SQLite cannot delete, because it writes a log first."""

import contextlib
import fcntl
import logging
import os
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Engine

log = logging.getLogger(__name__)

STEP = 1 << 16
# Bytes to release for each attempt (None: all). Most deletions need about 100 kB. Small parts come first, because
# uploads and other programs may use released space, and after a crash it stays released.
LOANS = (1 << 20, 1 << 20, 4 << 20, 4 << 20, None)
_SIGNS = ("disk is full", "no space left", "could not extend file", "disk full", "quota")


def was_rolled_back(error: BaseException | None) -> bool:
    """Return whether SQLite certainly did not commit, because its log had no space for the whole transaction."""
    return getattr(getattr(error, "orig", None), "sqlite_errorname", "") == "SQLITE_FULL"


def lacks_space(error: BaseException) -> bool:
    """Return whether a database error was caused by a full disk."""
    driver_error = getattr(error, "orig", None) or error
    if getattr(driver_error, "sqlite_errorname", "") == "SQLITE_IOERR_SHMSIZE":  # the -shm file of the first connection
        return True
    return any(sign in str(error).lower() for sign in _SIGNS)


class Reserve:
    """A file next to SQLite's database that only occupies disk space. All processes of the database share it."""

    def __init__(self, path: Path, size: int = 0) -> None:
        self._path = path
        self._size = size
        self._is_short = False

    @classmethod
    def of(cls, engine: Engine, size: int = 0) -> "Reserve | None":
        """Return the reserve of at most `size` bytes of an engine's database, or None if that is not SQLite."""
        if engine.dialect.name != "sqlite" or not engine.url.database:
            return None
        return cls(Path(f"{engine.url.database}-reserve"), size)

    def refill(self) -> None:
        """Grow the file to its full size, if the same amount of space stays free afterwards. Never raises.

        If other writers used space while the reserve was released, it is reserved again as soon as space is free.
        """
        with contextlib.suppress(OSError):
            current = self._path.stat().st_size if self._path.exists() else 0
            if current >= self._size:
                return
            disk = os.statvfs(self._path.parent)
            if not self._is_short and disk.f_bavail * disk.f_frsize < 2 * self._size - current:
                return
            with self._lock() as file:
                if file is not None:
                    self._is_short = not _grow(file, self._size)

    @contextlib.contextmanager
    def released(self, most: int | None = None) -> Iterator[None]:
        """Free at most `most` bytes (None: all) while the body of the `with` statement runs, then occupy them again.

        Only space that is still free then is occupied. If another thread or process has freed the reserve already,
        do nothing.
        """
        with self._lock() as file:
            if file is None:
                yield
                return
            size = os.fstat(file).st_size
            log.warning("the disk of the database is full, %s is released", self._path.name)
            os.ftruncate(file, 0 if most is None else max(size - most, 0))
            try:
                yield
            finally:
                self._is_short |= not _grow(file, size)

    @contextlib.contextmanager
    def _lock(self) -> Iterator[int | None]:
        """Yield the descriptor of the locked file, or None if it cannot be opened or is locked by another process."""
        with contextlib.ExitStack() as stack:
            file = None
            with contextlib.suppress(OSError):
                opened = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                stack.callback(os.close, opened)
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                file = opened
            yield file


def _grow(file: int, size: int) -> bool:
    """Allocate disk space for the file up to this size, or as much as there is; return whether there was enough."""
    start = os.fstat(file).st_size
    try:
        for offset in range(start, size, STEP):
            os.posix_fallocate(file, offset, min(STEP, size - offset))
    except (OSError, AttributeError):  # some systems cannot allocate space
        log.warning("the reserve for deletions has only %s of %s bytes", os.fstat(file).st_size, size)
        return False
    return True
