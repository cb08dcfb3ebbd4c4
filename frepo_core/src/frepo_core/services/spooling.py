"""Where content waits while it arrives: a file without a name, hashed meanwhile, that a storage can link into place."""

import contextlib
import errno
import io
import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NoReturn, Protocol

from frepo_core.errors import StorageFull, StorageUnavailable

from .following import Follower
from .sums import Sums

IN_MEMORY = 512 << 10
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

Take = Callable[[Sums, bytes], object]


class SpooledFile(Protocol):
    """A body that waits in a file, as it was sent."""

    @property
    def length(self) -> int:
        """How long it is by now, in bytes."""

    def append(self, data: bytes) -> None:
        """Take more of it."""

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Go to a position."""

    def close(self) -> None:
        """Forget it."""


class SpoolFile(io.FileIO):
    """Content in a file. `sums` gives its sums, most of which were computed while the content arrived.

    `take` gets the sums and each block, and adds what of it is content; without it, that is all.
    """

    def __init__(self, directory: str | None, workers: ThreadPoolExecutor, take: Take | None = None) -> None:
        descriptor = open_unnamed(directory)
        super().__init__(descriptor, "r+")
        self._sums = Sums()
        self._follower = Follower(descriptor, workers, partial(take, self._sums) if take else self._sums.update)
        self.length = 0

    def append(self, data: bytes) -> None:
        """Write at the end; the hash follows when enough has come together."""
        self._write_all(data)
        self._follower.follow(self.length)

    def append_hashed(self, data: bytes) -> None:
        """Write at the end, and hash it here: for who works in the pool already."""
        self._write_all(data)
        self._sums.update(data)
        self._follower.skip(self.length)

    def catch_up(self) -> None:
        """Hash what is not hashed yet."""
        self._follower.finish(self.length)

    def cut(self, length: int) -> bytes:
        """Let it end here; return what was behind."""
        rest = os.pread(self.fileno(), self.length - length, length)
        self.truncate(length)
        self.length = length
        return rest

    def sums(self) -> Sums:
        """Return the sums of everything; waits for what is not hashed yet."""
        self.catch_up()
        return self._sums

    def close(self) -> None:
        """Close the file, once nobody reads it any more: its number could be another file's by then."""
        if not self.closed:
            self._follower.stop()
            super().close()

    def _write_all(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self.write(view) :]
        self.length += len(data)


class Spool:
    """Content on its way in, as waitress' receivers fill it: in memory while it is small, then in a file.

    `new_file` opens that for what is in memory by then.
    """

    def __init__(self, overflow: int, new_file: Callable[[bytes], "SpooledFile"]) -> None:
        self._overflow = overflow
        self._new_file = new_file
        self._memory: io.BytesIO = io.BytesIO()
        self._file: SpooledFile | None = None

    def append(self, data: bytes) -> None:
        """Take more of the body."""
        if self._file is None:
            if self._memory.tell() + len(data) <= self._overflow:
                self._memory.write(data)
                return
            self._file = self._new_file(self._memory.getvalue())
            self._memory = io.BytesIO()
        self._file.append(data)

    def getfile(self) -> "io.BytesIO | SpooledFile | LostBody":
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


class ArrivingSpool(Spool):
    """What a body is taken into by who moves the bytes of all clients, and can answer none.

    What the disk does not take is dropped, and told to who reads the body.
    """

    _trouble: OSError | None = None

    def append(self, data: bytes) -> None:
        """Take more of the body, unless some of it is lost."""
        if self._trouble is None:
            try:
                super().append(data)
            except OSError as error:
                self._trouble = error

    def getfile(self) -> "io.BytesIO | SpooledFile | LostBody":
        """Return the whole body, at its start, or what says why it is not there."""
        return super().getfile() if self._trouble is None else LostBody(self._trouble)


class LostBody:
    """Stands for a body that the disk for temporary files did not take. Reading it raises why."""

    def __init__(self, trouble: OSError) -> None:
        self._trouble = trouble

    def read(self, size: int = -1) -> NoReturn:
        """Raise `StorageFull` or `StorageUnavailable`."""
        if self._trouble.errno in NO_ROOM:
            raise StorageFull("The disk for temporary files has no room left") from self._trouble
        raise StorageUnavailable(f"The disk for temporary files: {self._trouble.strerror}") from self._trouble

    readline = readinto = read

    def close(self) -> None:
        """Nothing is open."""


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
