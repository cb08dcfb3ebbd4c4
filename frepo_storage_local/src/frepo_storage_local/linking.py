"""Links a content into place instead of copying it: an unnamed file (open(2), O_TMPFILE), or one that offers that."""

import os
from pathlib import Path
from typing import BinaryIO

from .modes import set_mode

OPEN_FILES = "/proc/self/fd"


def file_of(content: BinaryIO, size: int) -> int | None:
    """Return the descriptor of the content if it is a file of this size at its start that may be linked, or None.

    A file that has a name belongs to somebody else, unless the content has a method `link_to`, as a `SessionFile` has.
    """
    try:
        descriptor = content.fileno()
        status = os.fstat(descriptor)
        is_whole = status.st_size == size and content.tell() == 0
    except (OSError, AttributeError):
        return None
    return descriptor if is_whole and (status.st_nlink == 0 or hasattr(content, "link_to")) else None


def link(content: BinaryIO, descriptor: int, target: Path, permissions: int) -> bool:
    """Link the file to the target and sync it; return whether that worked. It fails across disks."""
    if os.fstat(descriptor).st_nlink == 0:
        _finish(descriptor, permissions)
        return _link_unnamed(descriptor, target)
    # What is not linked stays as it is.
    if not content.link_to(target):  # type: ignore[attr-defined]  # `file_of` has looked
        return False
    try:
        _finish(descriptor, permissions)
    except OSError:
        target.unlink()
        raise
    return True


def _finish(descriptor: int, permissions: int) -> None:
    """Give a file the mode and the time of a blob, and sync it."""
    set_mode(descriptor, permissions)
    os.utime(descriptor)  # the grace period of storage:sweep starts now, not when the last byte arrived
    os.fsync(descriptor)


def _link_unnamed(descriptor: int, target: Path) -> bool:
    """Link a file without a name; return whether that worked. It fails for an unlinked file."""
    try:
        # Only with a folder's descriptor does Python follow the link in /proc, and so link the file itself.
        folder = os.open(OPEN_FILES, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.link(str(descriptor), target, src_dir_fd=folder, follow_symlinks=True)
        finally:
            os.close(folder)
    except OSError:
        return False
    return True
