"""Answers that are made on request: complete in a temporary file, before the first byte is sent."""

import threading
from collections.abc import Callable, Iterable
from typing import BinaryIO, Self

from frepo_core.errors import TooManyExportsError

from .ingest import Ingest, disk_full_translated

AT_ONCE = 2
RETRY_SECONDS = 10
# Lines are written together.
_PIECE = 64 << 10


class Exports:
    """Makes exports, at most two at a time: each needs a thread while it is made, and a file until it is sent."""

    def __init__(self, ingest: Ingest) -> None:
        self._ingest = ingest
        self._places = threading.BoundedSemaphore(AT_ONCE)

    def write(self, lines: Iterable[bytes]) -> "ExportFile":
        """Write the lines to a temporary file, and return it at its start. Close it: that frees its place.

        Raises `TooManyExportsError`, `StorageFull`, and what the lines raise.
        """
        if not self._places.acquire(blocking=False):
            raise TooManyExportsError(
                f"This process makes or sends {AT_ONCE} exports already, send this request again later",
                retry_after=RETRY_SECONDS,
            )
        file = ExportFile(self._ingest.temporary_file(), self._places.release)
        try:
            with disk_full_translated():
                file.fill(lines)
        except BaseException:
            file.close()
            raise
        return file


class ExportFile:
    """A finished export of `size` bytes. The server sends it without a thread."""

    def __init__(self, file: BinaryIO, release: Callable[[], object]) -> None:
        self._file = file
        self._release = release
        self._is_closed = False
        self.size = 0
        self.read = file.read
        self.seek = file.seek
        self.tell = file.tell

    def fill(self, lines: Iterable[bytes]) -> None:
        """Write all lines, and go to the start."""
        waiting: list[bytes] = []
        length = 0
        for line in lines:
            waiting.append(line)
            length += len(line)
            if length >= _PIECE:
                self._file.write(b"".join(waiting))
                waiting, length = [], 0
        self._file.write(b"".join(waiting))
        self.size = self._file.tell()
        self._file.seek(0)

    def seekable(self) -> bool:
        """Return True: the server looks at what is left."""
        return True

    def close(self) -> None:
        """Delete the file, and free its place."""
        if not self._is_closed:
            self._is_closed = True
            self._file.close()
            self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
