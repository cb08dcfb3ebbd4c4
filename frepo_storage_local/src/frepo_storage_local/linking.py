"""Puts a file that has no name into place by a link (open(2), O_TMPFILE), where the system can."""

import os
from pathlib import Path
from typing import BinaryIO

OPEN_FILES = "/proc/self/fd"


def unnamed_file(content: BinaryIO, size: int) -> int | None:
    """Return the descriptor of a content that is all of a file without a name, at its start; None for any other."""
    try:
        descriptor = content.fileno()
        status = os.fstat(descriptor)
        is_whole = status.st_nlink == 0 and status.st_size == size and content.tell() == 0
    except (OSError, AttributeError):
        return None
    return descriptor if is_whole else None


def link(descriptor: int, target: Path) -> bool:
    """Link the file to its place; tell whether that worked: not across disks, and not where it may never be linked."""
    try:
        # With a folder's descriptor Python follows the link in /proc, which is what gives a name to the file itself.
        folder = os.open(OPEN_FILES, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.link(str(descriptor), target, src_dir_fd=folder, follow_symlinks=True)
        finally:
            os.close(folder)
    except OSError:
        return False
    return True
