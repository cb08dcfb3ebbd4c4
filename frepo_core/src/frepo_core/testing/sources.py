"""Contents for tests, generated while they are read and never kept in memory."""

import hashlib
import random
from collections.abc import Callable
from typing import BinaryIO, Protocol, cast

CHUNK = 1 << 20

# The length is prime, so that a lost, repeated or moved part changes the content.
_BLOCK = random.Random(0).randbytes(1_000_003)  # not random: each run has the same bytes


class Readable(Protocol):
    """An object whose `read` returns bytes, and no bytes at its end."""

    def read(self, size: int = -1, /) -> bytes:
        """Read at most `size` bytes."""


def pattern(start: int, length: int) -> bytes:
    """Return `length` bytes of the endless test content, beginning at `start`."""
    offset = start % len(_BLOCK)
    head = _BLOCK[offset : offset + length]
    return head if len(head) == length else head + (_BLOCK * (length // len(_BLOCK) + 1))[: length - len(head)]


def digest(content: Readable) -> tuple[int, str]:
    """Read a content to its end; return its size in bytes and its SHA-256."""
    size, sha256 = 0, hashlib.sha256()
    while chunk := content.read(CHUNK):
        size += len(chunk)
        sha256.update(chunk)
    return size, sha256.hexdigest()


class Source:
    """The first `size` bytes of the test content. Its only method is `read`, as for the body of an upload.

    One `read` returns at most `step` bytes. When the reader reaches the byte `at`, `do` is called once, and its
    exceptions are raised by `read`. `position` is the number of bytes that were read.
    """

    def __init__(
        self, size: int, *, step: int | None = None, at: int | None = None, do: Callable[[], object] | None = None
    ) -> None:
        self.size = size
        self.position = 0
        self._step = step
        self._at = at
        self._do = do

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes, none beyond the byte `at` before `do` was called."""
        if self._do and self._at == self.position:
            do, self._do = self._do, None
            do()
        length = self.size - self.position
        for limit in (None if size < 0 else size, self._step, self._until_event()):
            length = length if limit is None else min(length, limit)
        data = pattern(self.position, length)
        self.position += length
        return data

    def _until_event(self) -> int | None:
        return self._at - self.position if self._do and self._at is not None else None

    @property
    def file(self) -> BinaryIO:
        """The source, typed as a file: a backend may call only `read`."""
        return cast(BinaryIO, self)
