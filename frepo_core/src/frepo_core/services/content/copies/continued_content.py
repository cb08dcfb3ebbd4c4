"""Contents that are read on from another copy, from the same position, if the one that is read fails in the middle."""

import contextlib
import os
from collections.abc import Callable
from typing import BinaryIO, Self

from frepo_core.errors import BlobNotFound

from ..seekable_content import seekable_content
from .copy_reads import READ_FAILURES

# Opens another copy from a position to the end of the part, or raises the error, with which the one before has failed.
OpenOther = Callable[[int, Exception], BinaryIO]


class ContinuedContent:
    """A stream of `length` bytes of a content from `start`."""

    def __init__(self, content: BinaryIO, start: int, length: int, open_other: OpenOther) -> None:
        self._content = content
        self._position, self._end = start, start + length
        self._open_other = open_other
        self._has_fallen_back = False

    def read(self, size: int = -1, /) -> bytes:
        """Read at most `size` bytes. Raises what the last copy raised."""
        try:
            data = self._content.read(size)
            if not data and size and self._position < self._end:
                raise _too_short(self._position)
        except READ_FAILURES as error:
            if self._has_fallen_back:
                raise
            self._fall_back(error)
            data = self._content.read(size)
        self._position += len(data)
        return data

    def _fall_back(self, error: Exception) -> None:
        other = self._open(error)
        with contextlib.suppress(*READ_FAILURES):
            self._content.close()
        self._content, self._has_fallen_back = other, True

    def _open(self, error: Exception) -> BinaryIO:
        return self._open_other(self._position, error)

    def close(self) -> None:
        """Close the stream."""
        self._content.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ContinuedFile(ContinuedContent):
    """A local file of `size` bytes, which the server sends by itself and reads at any position."""

    def __init__(self, file: BinaryIO, size: int, open_other: OpenOther) -> None:
        super().__init__(file, file.tell(), size - file.tell(), open_other)

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, position: int, whence: int = os.SEEK_SET, /) -> int:
        """Set the position, as a file does."""
        self._position = self._content.seek(position, whence)
        return self._position

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def _open(self, error: Exception) -> BinaryIO:
        other = seekable_content(lambda position: self._open_other(position, error), self._end)
        other.seek(self._position)
        return other


def _too_short(position: int) -> BlobNotFound:
    return BlobNotFound(f"The content ends before its byte {position + 1}")
