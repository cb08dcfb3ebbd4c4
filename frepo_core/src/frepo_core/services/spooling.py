"""Where content waits while it arrives: a file without a name, hashed meanwhile, that a storage can link into place."""

import contextlib
import errno
import hashlib
import io
import os
import tempfile
import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait

BATCH = 8 << 20
TURN = 64 << 20
BLOCK = 1 << 20
IN_MEMORY = 512 << 10
NO_ROOM = {errno.ENOSPC, errno.EDQUOT}


class SpoolFile(io.FileIO):
    """Content in a file. `sha256` gives its digest, most of which was computed while the content arrived.

    `is_hashed`: somebody will ask for the digest; of what is only an envelope around the content nobody does.
    """

    def __init__(self, descriptor: int, workers: ThreadPoolExecutor, *, is_hashed: bool = True) -> None:
        super().__init__(descriptor, "r+")
        self._hash = _RunningHash(descriptor, workers)
        self._is_hashed = is_hashed
        self.length = 0

    def append(self, data: bytes) -> None:
        """Write at the end; the hash follows when enough has come together."""
        view = memoryview(data)
        while view:
            view = view[self.write(view) :]
        self._grow(len(data))

    def copy(self, source: int, start: int, length: int) -> None:
        """Write a part of another file at the end, within the kernel where that can be."""
        end = start + length
        while start < end:
            wanted = min(BATCH, end - start)
            try:
                copied = os.copy_file_range(source, self.fileno(), wanted, start, self.length)
            except OSError as error:
                if error.errno in NO_ROOM:
                    raise
                copied = os.pwrite(self.fileno(), os.pread(source, wanted, start), self.length)
            if not copied:
                raise OSError(errno.EIO, "The file to copy from ends early")
            start += copied
            self._grow(copied)

    def _grow(self, length: int) -> None:
        self.length += length
        if self._is_hashed:
            self._hash.follow(self.length)

    def sha256(self) -> str:
        """Return the digest of everything in hex; waits for what is not hashed yet."""
        return self._hash.finish(self.length)

    def close(self) -> None:
        """Close the file, once nobody hashes from it any more: its number could be another file's by then."""
        if not self.closed:
            self._hash.stop()
            super().close()


class Spool:
    """Content on its way in, as waitress' receivers fill it: in memory while it is small, then in a `SpoolFile`."""

    def __init__(
        self, overflow: int, directory: str | None, workers: ThreadPoolExecutor, *, is_hashed: bool = True
    ) -> None:
        self._overflow = overflow
        self._directory = directory
        self._workers = workers
        self._is_hashed = is_hashed
        self._memory: io.BytesIO = io.BytesIO()
        self._file: SpoolFile | None = None

    def append(self, data: bytes) -> None:
        """Take more of the body."""
        if self._file is None:
            if self._memory.tell() + len(data) <= self._overflow:
                self._memory.write(data)
                return
            self._file = SpoolFile(open_unnamed(self._directory), self._workers, is_hashed=self._is_hashed)
            self._file.append(self._memory.getvalue())
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


class _RunningHash:
    """A SHA-256 that follows a growing file in the threads of a pool, a turn at a time, so that many can share it."""

    def __init__(self, descriptor: int, workers: ThreadPoolExecutor) -> None:
        self._descriptor = descriptor
        self._workers = workers
        self._sha256 = hashlib.sha256()
        self._hashed = 0
        self._written = 0
        self._turn: Future[None] | None = None
        self._lock = threading.Lock()
        self._stopped = False

    def follow(self, written: int) -> None:
        """Say how far the file is written; a turn begins when that is far enough."""
        with self._lock:
            self._written = written
            if self._turn is None and not self._stopped and written - self._hashed >= BATCH:
                self._turn = self._workers.submit(self._take_turn)

    def finish(self, written: int) -> str:
        """Return the digest in hex; the rest is hashed here."""
        self.stop()
        self._hash_until(written)
        return self._sha256.hexdigest()

    def stop(self) -> None:
        """Let no further turn begin, and wait for the one that runs."""
        with self._lock:
            self._stopped = True
            turn = self._turn
        if turn is not None and not turn.cancel():
            wait([turn])

    def _take_turn(self) -> None:
        """Hash what is there, but not for long: the next turn queues behind those of other bodies."""
        self._hash_until(min(self._written, self._hashed + TURN))
        with self._lock:
            more = not self._stopped and self._written - self._hashed >= BATCH
            self._turn = self._workers.submit(self._take_turn) if more else None

    def _hash_until(self, end: int) -> None:
        while self._hashed < end and (
            block := os.pread(self._descriptor, min(BLOCK, end - self._hashed), self._hashed)
        ):
            self._sha256.update(block)
            self._hashed += len(block)


def open_unnamed(directory: str | None) -> int:
    """Open a file that has no name and can get one by a link; where the system cannot, a deleted one."""
    folder = directory or tempfile.gettempdir()
    with contextlib.suppress(OSError, AttributeError):
        return os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    descriptor, name = tempfile.mkstemp(dir=folder)
    os.unlink(name)
    return descriptor
