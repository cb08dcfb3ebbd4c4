"""Counts the bytes of uploads until they are committed or given up: an open body must not end entries of the trash.

Each process publishes its numbers in a small file in the folder for temporary files, so that all processes that share
this folder see each other. The file is locked while its process lives.
"""

import contextlib
import fcntl
import logging
import os
import struct
import tempfile
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger(__name__)

PREFIX = ".frepo-held-"
_NUMBERS = struct.Struct("<qq")
# A new file is locked this many seconds after it was made, at the latest.
_FRESH = 60


@dataclass(frozen=True, kw_only=True)
class Held:
    """Bytes of uploads: `spooled` in the folder for temporary files, `storing` in the storage without a row yet."""

    spooled: int = 0
    storing: int = 0


class HeldBytes:
    """The bytes that the uploads of this process hold, and those of the others with the same folder."""

    def __init__(self, directory: str | None) -> None:
        self._folder = Path(directory or tempfile.gettempdir())
        self._lock = threading.Lock()
        self._spooled = self._storing = 0
        self._counted: dict[str, Callable[[], int]] = {}
        self._file: int | None = None
        self._name = f"{PREFIX}{uuid.uuid4().hex}"

    def add(self, *, spooled: int = 0, storing: int = 0) -> None:
        """Count bytes, or give them back with a negative number. Never raises."""
        with self._lock:
            self._spooled += spooled
            self._storing += storing
            with contextlib.suppress(OSError):  # the disk is full: this process knows its own numbers
                os.pwrite(self._published(), _NUMBERS.pack(self._spooled, self._storing), 0)

    @contextlib.contextmanager
    def storing(self, size: int) -> Iterator[None]:
        """Count bytes while they are stored and have no row yet."""
        self.add(storing=size)
        try:
            yield
        finally:
            self.add(storing=-size)

    def count(self, origin: str, held: Callable[[], int]) -> None:
        """Count what a plug-in holds, too: `held` returns the bytes. `origin` names it for the log."""
        self._counted[origin] = held

    def total(self) -> Held:
        """Return the bytes of all processes, and those that plug-ins hold."""
        found = [(self._spooled, self._storing), *self._others()]
        of_plugins = sum(_counted(origin, held) for origin, held in self._counted.items())
        return Held(spooled=sum(each[0] for each in found), storing=sum(each[1] for each in found) + of_plugins)

    def _published(self) -> int:
        if self._file is None:
            path = self._folder / self._name
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX)
            weakref.finalize(self, _remove, path, self._file)
        return self._file

    def _others(self) -> Iterator[tuple[int, int]]:
        for path in self._folder.glob(f"{PREFIX}*"):
            with contextlib.suppress(OSError):
                if path.name != self._name and (numbers := _read(path)):
                    yield numbers


def _counted(origin: str, held: Callable[[], int]) -> int:
    try:
        return max(int(held()), 0)
    except Exception:
        log.exception("the bytes that %s holds are not known", origin)
        return 0


def _read(path: Path) -> tuple[int, int] | None:
    """Return the numbers of a process that lives; delete the file of one that has ended."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        status = os.fstat(descriptor)
        if status.st_uid != os.geteuid():
            return None
        if time.time() - status.st_mtime > _FRESH and _is_abandoned(descriptor):
            path.unlink()
            return None
        data = os.pread(descriptor, _NUMBERS.size, 0)
        return _NUMBERS.unpack(data) if len(data) == _NUMBERS.size else None
    finally:
        os.close(descriptor)


def _is_abandoned(descriptor: int) -> bool:
    """Return whether nobody holds the lock of the file. A file system without locks says that somebody does."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove(path: Path, descriptor: int) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
    with contextlib.suppress(OSError):
        os.close(descriptor)
