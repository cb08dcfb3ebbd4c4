"""Keeps disk space for deletions: on a full disk SQLite cannot even delete, because it writes a log first."""

import contextlib
import fcntl
import logging
import os
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Engine

log = logging.getLogger(__name__)

STEP = 1 << 16
# How much of it is released for one try after the other, in bytes. Most deletions need some 100 kB. Uploads and other
# programs may take what is released, and a crash leaves it released.
LOANS = (1 << 20, 1 << 20, 4 << 20, 4 << 20, None)
_SIGNS = ("disk is full", "no space left", "could not extend file", "disk full", "quota")


def was_rolled_back(error: BaseException | None) -> bool:
    """Tell whether SQLite certainly did not commit, as its log had no space for the whole transaction."""
    return getattr(getattr(error, "orig", None), "sqlite_errorname", "") == "SQLITE_FULL"


def lacks_space(error: BaseException) -> bool:
    """Tell whether a database refused to work because its disk is full."""
    driver_error = getattr(error, "orig", None) or error
    if getattr(driver_error, "sqlite_errorname", "") == "SQLITE_IOERR_SHMSIZE":  # the -shm file of the first connection
        return True
    return any(sign in str(error).lower() for sign in _SIGNS)


class Reserve:
    """A file next to SQLite's database that only holds disk space. Processes that share the database share it."""

    def __init__(self, path: Path, size: int = 0) -> None:
        self._path = path
        self._size = size
        self._is_short = False

    @classmethod
    def of(cls, engine: Engine, size: int = 0) -> "Reserve | None":
        """Return the reserve of an engine's database, `size` bytes at most; None for anything but SQLite."""
        if engine.dialect.name != "sqlite" or not engine.url.database:
            return None
        return cls(Path(f"{engine.url.database}-reserve"), size)

    def refill(self) -> None:
        """Make the file as large as it should be, if as much space is left afterwards. Never raises.

        What others took while it was released is taken back in any case, as soon as there is space.
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
        """Give up at most so many bytes while the body runs, then take them back as far as they are still free.

        None stands for all. Where another thread or process has released it already, the body runs with that.
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
        """Open the file and lock it; None where it cannot be opened, or another has locked it."""
        with contextlib.ExitStack() as stack:
            file = None
            with contextlib.suppress(OSError):
                opened = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                stack.callback(os.close, opened)
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                file = opened
            yield file


def _grow(file: int, size: int) -> bool:
    """Let the file take disk space up to this size, as far as there is any; return whether there was enough."""
    start = os.fstat(file).st_size
    try:
        for offset in range(start, size, STEP):
            os.posix_fallocate(file, offset, min(STEP, size - offset))
    except (OSError, AttributeError):  # some systems cannot reserve space at all
        log.warning("the reserve for deletions has only %s of %s bytes", os.fstat(file).st_size, size)
        return False
    return True
