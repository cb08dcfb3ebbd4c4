"""Modes of files and folders, also on file systems that have none, such as vfat, exFAT and some CIFS servers."""

import errno
import os
import stat
import tempfile
from pathlib import Path

_NO_MODES = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}


def set_mode(target: int | Path, mode: int) -> None:
    """Set the mode of a file or a folder. A file system that lets nobody do so decides by its mount options."""
    try:
        os.chmod(target, mode)
    except OSError as error:
        if error.errno not in _NO_MODES:
            raise


def keeps_modes(folder: Path) -> bool:
    """Return whether a file in a folder gets the mode that it is given. Raises `OSError` if none can be made."""
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".frepo-mode-") as file:
        found = []
        for mode in (0o600, 0o640):
            set_mode(file.fileno(), mode)
            found.append(stat.S_IMODE(os.fstat(file.fileno()).st_mode))
        return found == [0o600, 0o640]
