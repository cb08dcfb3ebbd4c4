"""Files that the client writes: complete or not at all, for their owner alone, and never through somebody's link.

Every file that the client writes is made here: a folder such as /tmp may be one in which others plant links and files.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from typing import BinaryIO

ONLY_OWNER = 0o600
FOR_ALL = 0o644  # of what has no secrets, and is read by other programs
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_ROOT = 0


class NotOwnError(OSError):
    """A file that this user has not made: a link, or one of another user."""

    def __init__(self, path: str) -> None:
        super().__init__(0, "it is a link or belongs to another user; delete it, or use another folder", path)


def create(path: str, mode: int = ONLY_OWNER) -> BinaryIO:
    """Make a file that must not exist, with exactly this mode, and open it to read and write. Raises `OSError`."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _FLAGS, mode)
    if hasattr(os, "fchmod"):
        with contextlib.suppress(OSError):  # a file system without modes, such as vfat
            os.fchmod(descriptor, mode)
    return open(descriptor, "r+b")


def open_own(path: str, flags: int = os.O_RDONLY, _mode: int = 0) -> int:
    """Open a file of an earlier run and return its descriptor. Raises `NotOwnError` or another `OSError`.

    It is an opener of the built-in `open`, too.
    """
    if os.path.islink(path):
        raise NotOwnError(path)
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    descriptor = os.open(path, flags | _FLAGS | getattr(os, "O_NONBLOCK", 0))  # a pipe would block
    if not _is_own(os.fstat(descriptor)):
        os.close(descriptor)
        raise NotOwnError(path)
    return descriptor


def open_lock(path: str) -> BinaryIO:
    """Open a file that is locked, and make it if it does not exist. Raises `OSError`."""
    return open(os.open(path, os.O_RDWR | os.O_CREAT | _FLAGS, ONLY_OWNER), "r+b")


@contextlib.contextmanager
def replacing(
    path: str, mode: int = ONLY_OWNER, *, like: os.stat_result | None = None, is_durable: bool = True
) -> Iterator[BinaryIO]:
    """Yield a new file that gets the name `path` when the body has ended. Otherwise nothing stays. Raises `OSError`.

    It has the owner and the mode of `like`, if that is given. `is_durable` waits until it is on the disk.
    """
    new = random_name(path)
    file = create(new, mode)
    try:
        with file:
            if like is not None and hasattr(os, "fchown"):
                if os.geteuid() == _ROOT:
                    os.fchown(file.fileno(), like.st_uid, like.st_gid)
                with contextlib.suppress(OSError):
                    os.fchmod(file.fileno(), like.st_mode & 0o777)
            yield file
            if is_durable:
                sync(file)
        os.replace(new, path)
    except BaseException:
        delete(new)
        raise


def write(path: str, text: str, mode: int = ONLY_OWNER, *, is_durable: bool = True) -> None:
    """Write a file of text in place of another one. Raises `OSError`."""
    with replacing(path, mode, is_durable=is_durable) as file:
        file.write(text.encode())


def random_name(path: str, suffix: str = "") -> str:
    """Return a path next to `path` that nobody can foresee."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(folder, f".{name[:180]}.{secrets.token_hex(8)}{suffix}")


def sync(file: BinaryIO) -> None:
    """Wait until a file is on the disk."""
    file.flush()
    os.fsync(file.fileno())


def delete(path: str) -> None:
    """Delete a file that may not exist."""
    with contextlib.suppress(OSError):
        os.remove(path)


def _is_own(status: os.stat_result) -> bool:
    """Whether a file is one that this user, or root, has made. Windows has other owners."""
    if not stat.S_ISREG(status.st_mode):
        return False
    return not hasattr(os, "geteuid") or (status.st_uid in {os.geteuid(), _ROOT} and status.st_nlink == 1)
