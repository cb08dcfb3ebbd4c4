"""Reads a stored content at any position, over backends that only stream from a position to the end."""

import io
import os
from collections.abc import Callable
from typing import BinaryIO

# A short way ahead is read and dropped: opening the content again takes a request to the storage.
_READ_OVER = 1 << 20
_BUFFER = 128 << 10


class _SeekableContent(io.RawIOBase):
    """Opens the content again at each new position. `open_at` returns a stream from a position to the end."""

    def __init__(self, open_at: Callable[[int], BinaryIO], size: int) -> None:
        self._open_at = open_at
        self._size = size
        self._stream: BinaryIO | None = None  # first, because `close` reads it, also if opening fails
        self._stream = open_at(0)
        self._stream_position = 0
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = max(0, origin + offset)
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any writable buffer
        if self._position >= self._size:
            return 0
        data = self._at_position().read(len(buffer))
        buffer[: len(data)] = data
        self._position += len(data)
        self._stream_position = self._position
        return len(data)

    def _at_position(self) -> BinaryIO:
        """Return a stream at the position: the one that is open, if it is at most 1 MiB before it."""
        if self._stream is not None and 0 <= self._position - self._stream_position <= _READ_OVER:
            while self._stream_position < self._position:
                skipped = self._stream.read(min(_BUFFER, self._position - self._stream_position))
                if not skipped:
                    break
                self._stream_position += len(skipped)
            return self._stream
        self._close_stream()
        self._stream = self._open_at(self._position)
        self._stream_position = self._position
        return self._stream

    def _close_stream(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def close(self) -> None:
        if not self.closed:
            self._close_stream()
            super().close()


def seekable_content(open_at: Callable[[int], BinaryIO], size: int) -> BinaryIO:
    """Return a seekable file of `size` bytes. `open_at` opens the content from a position to its end, at once for 0."""
    return io.BufferedReader(_SeekableContent(open_at, size), _BUFFER)
