"""A seekable file over a function that reads from a position."""

import io
import os
from collections.abc import Callable
from typing import BinaryIO, cast


def open_at(size: int, read_at: Callable[[int, int], bytes], close: Callable[[], object] = lambda: None) -> BinaryIO:
    """Return a file of `size` bytes with a position of its own. `read_at(position, size)` may return fewer bytes."""
    return cast(BinaryIO, io.BufferedReader(_PositionedFile(size, read_at, close)))


class _PositionedFile(io.RawIOBase):
    def __init__(self, size: int, read_at: Callable[[int, int], bytes], close: Callable[[], object]) -> None:
        self._size, self._read_at, self._close = size, read_at, close
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any writable buffer
        data = self._read_at(self._position, len(buffer))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        if origin + offset < 0:
            raise OSError(22, "the position is before the start of the content")
        self._position = origin + offset
        return self._position

    def close(self) -> None:
        if not self.closed:
            self._close()
        super().close()
