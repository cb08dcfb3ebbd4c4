"""Temporary folders of processes. What a killed process has left is deleted when the next folder is made."""

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

# Between making and locking a folder, it is new.
_NEW_SECONDS = 60


class TemporaryFolder:
    """A folder that is locked as long as it is used. Closing it deletes it with all that is in it."""

    def __init__(self, prefix: str, parent: str | Path | None) -> None:
        """Make one whose name begins with `prefix` in `parent`, None: in the system's folder for temporary files."""
        _delete_left(prefix, Path(parent or tempfile.gettempdir()))
        self._ending = ExitStack()
        made = tempfile.TemporaryDirectory(prefix=prefix, dir=parent, ignore_cleanup_errors=True)
        self.path = Path(self._ending.enter_context(made))
        self._ending.enter_context(_locked(self.path, fcntl.LOCK_SH))

    def close(self) -> None:
        """Delete the folder."""
        self._ending.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _delete_left(prefix: str, parent: Path) -> None:
    """Delete the folders of processes that were killed: those that are not new, and that nobody has locked."""
    for folder in parent.glob(f"{prefix}*"):
        with contextlib.suppress(OSError), _locked(folder, fcntl.LOCK_EX | fcntl.LOCK_NB):
            if time.time() - folder.stat().st_mtime > _NEW_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: Path, kind: int) -> Iterator[None]:
    """Lock a folder. Programs that are started have no part in that, so that it ends with this process."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, kind)
        yield
    finally:
        os.close(descriptor)
