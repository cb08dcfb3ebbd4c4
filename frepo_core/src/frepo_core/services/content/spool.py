"""Where content waits while it arrives: a file without a name, hashed meanwhile, that a storage can link into place."""

import contextlib
import errno
import io
import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from .background_hasher import BackgroundHasher
from .checksums import Checksums

IN_MEMORY = 512 << 10
DISK_FULL_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class SpoolFile(io.FileIO):
    """Content in a file. `sums` gives its sums, most of which were computed while the content arrived."""

    def __init__(self, directory: str | None, workers: ThreadPoolExecutor) -> None:
        descriptor = open_unnamed(directory)
        super().__init__(descriptor, "r+")
        self._sums = Checksums()
        self._hasher = BackgroundHasher(descriptor, workers, self._sums.update)
        self.length = 0

    def append(self, data: bytes) -> None:
        """Write at the end; the hash follows when enough has come together."""
        view = memoryview(data)
        while view:
            view = view[self.write(view) :]
        self.length += len(data)
        self._hasher.advance(self.length)

    def sums(self) -> Checksums:
        """Return the sums of everything; waits for what is not hashed yet."""
        self._hasher.finish(self.length)
        return self._sums

    def close(self) -> None:
        """Close the file, once nobody reads it any more: its number could be another file's by then."""
        if not self.closed:
            self._hasher.stop()
            super().close()


class Spool:
    """Content while it arrives: in memory while it is small, then in the file that `new_file` opens for it."""

    def __init__(self, overflow: int, new_file: Callable[[bytes], SpoolFile]) -> None:
        self._overflow = overflow
        self._new_file = new_file
        self._memory: io.BytesIO = io.BytesIO()
        self._file: SpoolFile | None = None

    def append(self, data: bytes) -> None:
        """Take more of the body."""
        if self._file is None:
            if self._memory.tell() + len(data) <= self._overflow:
                self._memory.write(data)
                return
            self._file = self._new_file(self._memory.getvalue())
            self._memory = io.BytesIO()
        self._file.append(data)

    def getfile(self) -> io.BytesIO | SpoolFile:
        """Return the whole body, at its start."""
        body = self._file or self._memory
        body.seek(0)
        return body

    def close(self) -> None:
        """Forget the body."""
        self._memory.close()
        if self._file is not None:
            self._file.close()

    def __len__(self) -> int:
        return self._file.length if self._file is not None else self._memory.getbuffer().nbytes


def plain_file(directory: str | None, workers: ThreadPoolExecutor, begun: bytes) -> SpoolFile:
    """Open a file for a body that is content, and of which this much is there."""
    file = SpoolFile(directory, workers)
    file.append(begun)
    return file


def open_unnamed(directory: str | None) -> int:
    """Open a file that has no name and can get one by a link; where the system cannot, a deleted one."""
    folder = directory or tempfile.gettempdir()
    with contextlib.suppress(OSError, AttributeError):
        return os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    descriptor, name = tempfile.mkstemp(dir=folder)
    os.unlink(name)
    return descriptor
