"""A complete content in a file of its own, which a storage can link into place instead of copying it."""

import contextlib
import io
import os
from pathlib import Path

from .checksums import Checksums


class SessionFile(io.FileIO):
    """A complete content that lies in the file `path`, with the checksums that were computed while it was written.

    `SessionFile(path, checksums)` opens the file, whose last component must not be a symbolic link. Give it to
    `Service.add_version` or `Service.upload_file`, and close it afterwards. No byte is hashed again. A storage on the
    same disk links the file into place, others read it. The storage syncs it before the commit; what was acknowledged
    earlier is for you to sync. After the commit the service removes the name `path`; after a
    refusal or a failure it is still there, and the upload can be tried again.

    Write nothing to the file before the service has answered: it may be a blob already. If the process is killed
    between the link and the end, the file keeps two names, see `is_shared`. Raises `OSError` if it cannot be opened.
    """

    def __init__(self, path: Path, checksums: Checksums) -> None:
        super().__init__(path, "r", opener=_open_no_link)
        self.path = path
        self._checksums = checksums

    @property
    def size(self) -> int:
        """The size in bytes."""
        return os.fstat(self.fileno()).st_size

    @property
    def sha256(self) -> str:
        """The SHA-256 in lower-case hex."""
        return self._checksums.digest

    def sums(self) -> Checksums:
        """Return the checksums of the whole content."""
        return self._checksums

    def link_to(self, target: Path) -> bool:
        """Give the file a further name; return False if that is not possible, as on another disk. For storages."""
        try:
            os.link(self.path, target, follow_symlinks=False)
        except OSError:
            return False
        if os.path.samestat(os.lstat(target), os.fstat(self.fileno())):
            return True
        target.unlink()  # the path leads to another file by now
        return False

    def taken(self) -> None:
        """Remove the name `path`, because the content is stored. Never raises. The service calls it."""
        with contextlib.suppress(OSError):
            if os.path.samestat(os.lstat(self.path), os.fstat(self.fileno())):
                self.path.unlink()

    @staticmethod
    def is_shared(path: Path) -> bool:
        """Return whether a file has a second name, so that it must not be written to: copy it first."""
        return path.stat().st_nlink > 1


def _open_no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW)
