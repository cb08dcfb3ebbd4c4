"""A part of an open file, as a file of its own."""

import io
from typing import BinaryIO


class Window(io.RawIOBase):
    """Reads at most `length` bytes of a file from `start` on (None: to its end); closing it closes the file."""

    def __init__(self, file: BinaryIO, start: int, length: int | None) -> None:
        self._file = file
        self._left = length
        file.seek(start)

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any writable buffer
        """Fill the buffer as far as the window reaches."""
        wanted = len(buffer) if self._left is None else min(len(buffer), self._left)
        data = self._file.read(wanted)
        buffer[: len(data)] = data
        if self._left is not None:
            self._left -= len(data)
        return len(data)

    def close(self) -> None:
        """Close the file below."""
        self._file.close()
        super().close()
