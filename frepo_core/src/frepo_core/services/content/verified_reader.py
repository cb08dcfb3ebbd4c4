"""Checks a whole content while it is read, so that wrong bytes are never taken for the right ones."""

import logging
import os
from typing import BinaryIO, Self

from frepo_core.errors import StorageUnavailable

from ..records import BlobRecord
from .checksums import Comparison

log = logging.getLogger(__name__)


class VerifiedContent:
    """A blob's bytes from first to last; the read that would end them raises where they are not what was stored.

    So the last piece of wrong bytes is never given away, and a client sees a download that broke off.
    """

    def __init__(self, content: BinaryIO, blob: BlobRecord) -> None:
        self._content = content
        self._blob = blob
        self._size = 0
        self._comparison = Comparison(blob)

    def read(self, size: int = -1, /) -> bytes:
        """Read at most `size` bytes. Raises `StorageUnavailable` in place of the last of wrong ones."""
        data = self._content.read(size)
        self._size += len(data)
        self._comparison.update(data)
        is_over = self._size >= self._blob.size or (not data and size != 0)
        if is_over and (self._size != self._blob.size or not self._comparison.matches()):
            raise wrong_bytes(self._blob)
        return data

    def close(self) -> None:
        """Close the content below."""
        self._content.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class VerifiedFile:
    """The same for a whole local file that a server sends by itself, without a thread.

    Such a server reads a piece, goes back, and reads again as much of it as the client took: what was read last is
    kept, so that each piece is read and compared once.
    """

    def __init__(self, file: BinaryIO, blob: BlobRecord) -> None:
        self._file = file
        self._blob = blob
        self._position = 0
        self._piece, self._piece_start = b"", 0
        self._comparison, self._compared = Comparison(blob), 0

    def read(self, size: int = -1, /) -> bytes:
        """Read at most `size` bytes. Raises `StorageUnavailable` in place of the last of wrong ones."""
        offset = self._position - self._piece_start
        if size < 0 or not 0 <= offset <= len(self._piece) - size:
            self._file.seek(self._position)
            piece = self._file.read(size)
            self._check(piece)
            self._piece, self._piece_start, offset = piece, self._position, 0
        data = self._piece if size == len(self._piece) else self._piece[offset : offset + size if size >= 0 else None]
        self._position += len(data)
        return data

    def _check(self, piece: bytes) -> None:
        """Compare what is new of the piece at the position. Whoever asks again after wrong bytes is refused again."""
        if self._position <= self._compared:
            new = memoryview(piece)[self._compared - self._position :]
            self._comparison.update(new)
            self._compared += len(new)
        if self._compared == self._blob.size and not self._comparison.matches():
            raise wrong_bytes(self._blob)

    def seekable(self) -> bool:
        """Say that it can be gone back in."""
        return True

    def seek(self, position: int, whence: int = os.SEEK_SET, /) -> int:
        """Go to a position, counted from the start, the current one or the end."""
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._blob.size}[whence]
        self._position = origin + position
        return self._position

    def tell(self) -> int:
        """Tell the position."""
        return self._position

    def close(self) -> None:
        """Close the file below."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def check(data: bytes, blob: BlobRecord) -> None:
    """Raise `StorageUnavailable` where this is not a blob's content."""
    comparison = Comparison(blob)
    comparison.update(data)
    if not comparison.matches():
        raise wrong_bytes(blob)


def wrong_bytes(blob: BlobRecord) -> StorageUnavailable:
    """Log that the storage gave other bytes than were stored, and make the error."""
    log.critical("the bytes of blob %s (%s, key %s) are wrong", blob.id, blob.storage, blob.key)
    return StorageUnavailable("The storage gave other bytes than were stored")
