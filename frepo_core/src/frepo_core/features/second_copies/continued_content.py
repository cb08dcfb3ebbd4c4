"""Contents that are read on from another copy, from the same position, if the one that is read fails in the middle."""

import contextlib
import os
from collections.abc import Callable
from typing import BinaryIO

from frepo_core.errors import BlobNotFound
from frepo_core.services.content.blobs.object_reads import READ_FAILURES
from frepo_core.services.content.copies import OpenOther
from frepo_core.services.content.read_ahead import PIECE, ReadAhead
from frepo_core.services.content.wrapped_content import WrappedContent


class ContinuedContent(WrappedContent):
    """A stream of `length` bytes of a content from `start`."""

    def __init__(self, content: BinaryIO, start: int, length: int, open_other: OpenOther) -> None:
        super().__init__(content)
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
        with contextlib.suppress(*READ_FAILURES):
            self._content.close()  # at first: the number of readers that decode is limited
        self._content, self._has_fallen_back = self._open_other(self._position, error), True


class ContinuedFile(WrappedContent):
    """A local file of `size` bytes, which the server sends by itself and reads at any position.

    Another copy may be in a storage far away. So a thread opens it and reads it ahead. A server whose thread must not
    wait calls `defer`.
    """

    def __init__(self, file: BinaryIO, size: int, open_other: OpenOther) -> None:
        super().__init__(file)
        self._position, self._end = file.tell(), size
        self._open_other = open_other
        self._error: Exception | None = None
        self._other: ReadAhead | None = None
        self._piece, self._piece_start = b"", 0
        self._wake: Callable[[], None] | None = None

    def defer(self, wake: Callable[[], None]) -> None:
        """Do not wait in `read`: return no bytes while another copy is read, and call `wake` when there are some."""
        self._wake = wake
        if defer := getattr(self._content, "defer", None):
            defer(wake)

    @property
    def is_waiting(self) -> bool:
        """Whether `read` would return no bytes now, although the content has more."""
        if self._error is None:
            return bool(getattr(self._content, "is_waiting", False))
        return self._other is not None and not self._has_piece() and not self._other.is_ready

    def read(self, size: int = -1, /) -> bytes:
        """Read at most `size` bytes. Raises what the last copy raised."""
        if self._error is None:
            try:
                data = self._content.read(size)
                if not data and size and self._position < self._end and not self.is_waiting:
                    raise _too_short(self._position)
            except READ_FAILURES as error:
                self._error = error
                self._close_file()
            else:
                self._position += len(data)
                return data
        if size < 0:
            return b"".join(iter(lambda: self.read(PIECE), b""))
        return self._read_other(size)

    def _read_other(self, size: int) -> bytes:
        """Return a part of the last piece that was read, so that a reader may seek back in it, or of the next one."""
        if self._position >= self._end or not size:
            return b""
        if not self._has_piece():
            other = self._open_at(self._position)
            if self._wake is not None and not other.is_ready:
                return b""
            self._piece, self._piece_start = other.read(PIECE), self._position
            if not self._piece:
                raise _too_short(self._position)
        offset = self._position - self._piece_start
        data = self._piece[offset : offset + size]
        self._position += len(data)
        return data

    def _has_piece(self) -> bool:
        return 0 <= self._position - self._piece_start < len(self._piece)

    def _open_at(self, position: int) -> ReadAhead:
        """Return the stream of the other copy from a position: the one that is read, if it is there."""
        is_next = position == self._piece_start + len(self._piece)
        if self._other is None or not is_next:
            if self._other is not None:
                self._other.close()
            error = self._error
            assert error is not None
            self._piece, self._piece_start = b"", position
            self._other = ReadAhead(lambda: self._open_other(position, error), self._wake)
            self._other.start()
        return self._other

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, position: int, whence: int = os.SEEK_SET, /) -> int:
        """Set the position, as a file does."""
        if self._error is None:
            self._position = self._content.seek(position, whence)
        else:
            origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._end}[whence]
            self._position = origin + position
        return self._position

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def close(self) -> None:
        """Close the file and the other copy."""
        if self._other is not None:
            self._other.close()
        self._close_file()

    def _close_file(self) -> None:
        with contextlib.suppress(*READ_FAILURES):
            self._content.close()


def _too_short(position: int) -> BlobNotFound:
    return BlobNotFound(f"The content ends before its byte {position + 1}")
