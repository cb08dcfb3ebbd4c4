"""Links an unnamed file into place (open(2), O_TMPFILE), if the system supports that."""

import os
from pathlib import Path
from typing import BinaryIO

OPEN_FILES = "/proc/self/fd"


def unnamed_file(content: BinaryIO, size: int) -> int | None:
    """Return the descriptor of the content if it is an unnamed file of this size, at its start; otherwise None."""
    try:
        descriptor = content.fileno()
        status = os.fstat(descriptor)
        is_whole = status.st_nlink == 0 and status.st_size == size and content.tell() == 0
    except (OSError, AttributeError):
        return None
    return descriptor if is_whole else None


def link(descriptor: int, target: Path) -> bool:
    """Link the file to the target; return whether that worked. It fails across disks, and for an unlinked file."""
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
