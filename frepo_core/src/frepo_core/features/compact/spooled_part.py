"""Decodes parts of contents for downloads into temporary files, at full speed: no client holds a decoder."""

import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from typing import BinaryIO, Self

from frepo_core.errors import BlobNotFound, SpoolFullError
from frepo_core.services.content.held_bytes import HeldBytes
from frepo_core.services.content.spool import UnnamedFile

log = logging.getLogger(__name__)

PIECE = 1 << 20
# All parts together take at most this share of what is free on the disk.
MOST_OF_FREE = 0.5


class SpooledParts:
    """The temporary files of a process."""

    def __init__(self, directory: str | None, held: HeldBytes) -> None:
        self._directory = directory
        self._held = held
        self._missing = 0
        self._lock = threading.Lock()

    def new(self, start: int, length: int) -> "SpooledPart | None":
        """Return a part that gets `length` bytes of a content from `start`; None if the disk has no room for it."""
        try:
            free = shutil.disk_usage(self._directory or tempfile.gettempdir()).free
            file = UnnamedFile(self._directory, self._held)
        except OSError as error:  # that of the temporary files: the storage has not failed
            log.warning("an old version is decoded while it is sent: %s", error)
            return None
        with self._lock:
            if self._missing + length <= free * MOST_OF_FREE:
                self._missing += length
                return SpooledPart(file, start, length, self._count)
        file.close()
        return None

    def _count(self, size: int) -> None:
        """Count bytes that were written, or will never be: the disk has room for others."""
        with self._lock:
            self._missing -= size


class SpooledPart:
    """A file that one thread fills, and that the server reads behind it. Positions are those in the content.

    A server whose thread must not wait calls `defer`.
    """

    def __init__(self, file: UnnamedFile, start: int, length: int, count: Callable[[int], None]) -> None:
        """`count` is called with the bytes that the disk need not have room for any more."""
        self._file = file
        self._start, self._end = start, start + length
        self._count = count
        self._position = self._filled = start
        self._error: Exception | None = None
        self._is_ended, self._is_closed = True, False  # it ends when it was filled
        self._changed = threading.Condition()
        self._wake: Callable[[], None] | None = None

    def fill(self, content: BinaryIO, moved: Callable[[], None], ended: Callable[[], None]) -> None:
        """Start the thread that copies the content, which is at the start of the part, and closes it.

        `moved` is called after each piece, and `ended` at the end, also if nobody reads any more.
        """
        self._is_ended = False
        thread = threading.Thread(target=self._fill, args=(content, moved, ended), name="frepo-restore", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system has no thread left
            content.close()
            ended()
            self._finish(None)
            self.close()
            raise

    def _fill(self, content: BinaryIO, moved: Callable[[], None], ended: Callable[[], None]) -> None:
        error: Exception | None = None
        try:
            with content:
                while not self._is_closed and (left := self._end - self._filled):
                    piece = content.read(min(PIECE, left))
                    if not piece:
                        raise BlobNotFound(f"The content ends before its byte {self._end}")
                    self._write(piece)
                    self._count(len(piece))
                    self._note(len(piece))
                    moved()
        except Exception as failure:  # noqa: BLE001  # `read` raises it in the reader's thread
            error = failure
        finally:
            ended()
            self._finish(error)

    def _write(self, piece: bytes) -> None:
        try:
            self._file.write(piece)
        except OSError as error:
            text = f"The disk for temporary files has no room to decode this version: {error.strerror}"
            log.error("%s. It is sent from the decoder, if it can be opened again", text)
            raise SpoolFullError(text) from error

    def _note(self, size: int) -> None:
        with self._changed:
            self._filled += size
            self._changed.notify_all()
            wake = self._wake
        if wake is not None:
            wake()

    def _finish(self, error: Exception | None) -> None:
        self._count(self._end - self._filled)
        with self._changed:
            self._error, self._is_ended = error, True
            is_last = self._is_closed
        self._note(0)
        if is_last:
            self._file.close()

    def defer(self, wake: Callable[[], None]) -> None:
        """Do not wait in `read`: return no bytes while there are none yet, and call `wake` when there are some."""
        self._wake = wake

    @property
    def is_waiting(self) -> bool:
        """Whether `read` would return no bytes now, although the content has more."""
        return self._position >= self._filled and not self._is_ended

    def read(self, size: int = -1, /) -> bytes:
        """Read at most `size` bytes. Raises what decoding has raised, when all before it was read."""
        if size < 0:
            return b"".join(iter(lambda: self.read(PIECE), b""))
        with self._changed:
            if self._wake is None:
                self._changed.wait_for(lambda: not self.is_waiting)
            available = self._filled - self._position
            if available <= 0 and self._error is not None:
                raise self._error
        data = os.pread(self._file.fileno(), min(size, max(available, 0)), self._position - self._start)
        self._position += len(data)
        return data

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, position: int, whence: int = os.SEEK_SET, /) -> int:
        """Set the position, counted from the start of the content, the current position or the end of the part."""
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._end}[whence]
        self._position = origin + position
        return self._position

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def close(self) -> None:
        """Delete the file. The thread that fills it ends with its current piece."""
        with self._changed:
            self._is_closed = True
            is_last = self._is_ended
        if is_last:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
