"""A stream of bytes that can be peeked into, over a file or over the output of a decompressor."""

import os
import sys
from collections.abc import Iterator
from typing import BinaryIO

CHUNK = 128 << 10


class ByteStream:
    """Bytes in order. `offset` is the number of bytes that were taken out so far."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        # The buffered bytes, and how many of them were taken: removing the taken ones each time would copy the rest.
        self._waiting = b""
        self._taken = 0
        self.offset = 0

    def take(self, limit: int = sys.maxsize) -> bytes:
        """Return the next bytes, all that are buffered, at most `limit`; `b""` at the end."""
        if self._taken == len(self._waiting):
            self._waiting, self._taken = next(self._chunks, b""), 0
        data = self._waiting[self._taken : self._taken + limit]
        self._move(len(data))
        return data

    def put_back(self, size: int) -> None:
        """Put back the last `size` bytes of what `take` returned last."""
        self._move(-size)

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes, a few thousand at most, without taking them; fewer only at the end."""
        while len(self._waiting) - self._taken < size and (more := next(self._chunks, b"")):
            self._waiting, self._taken = self._waiting[self._taken :] + more, 0
        return self._waiting[self._taken : self._taken + size]

    def read(self, size: int) -> bytes:
        """Take `size` bytes, a few thousand at most; fewer only at the end."""
        data = self.peek(size)
        self._move(len(data))
        return data

    def skip(self, size: int) -> int:
        """Take up to `size` bytes and drop them; return how many there were."""
        left = size
        while left and (data := self.take(left)):
            left -= len(data)
        return size - left

    def drain(self) -> int:
        """Take all that is left; return the number of bytes."""
        start = self.offset
        while self.take():
            pass
        return self.offset - start

    def _move(self, size: int) -> None:
        self._taken += size
        self.offset += size


class FileStream(ByteStream):
    """A seekable file of `size` bytes, from its start. Skipping costs a seek."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        super().__init__(iter(lambda: file.read(CHUNK), b""))
        file.seek(0)
        self._file = file
        self._size = size

    def skip(self, size: int) -> int:
        """Take up to `size` bytes and drop them; return how many there were."""
        if size <= len(self._waiting) - self._taken + CHUNK:
            return super().skip(size)
        start = self.offset
        self.offset = min(start + size, self._size)
        self._waiting, self._taken = b"", 0
        self._file.seek(self.offset, os.SEEK_SET)
        return self.offset - start


def read_at(file: BinaryIO, start: int, size: int) -> bytes:
    """Return `size` bytes of a seekable file from `start`; fewer only at its end."""
    file.seek(start)
    data = file.read(size)
    while len(data) < size and (more := file.read(size - len(data))):
        data += more
    return data
