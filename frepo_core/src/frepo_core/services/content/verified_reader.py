"""Verifies a content while it is read, so that a damaged blob is never delivered as a complete download."""

import hashlib
import logging
import os
from collections.abc import Callable
from typing import BinaryIO

import xxhash

from frepo_core.errors import StorageUnavailable

from ..base.records import BlobRecord
from .wrapped_content import WrappedContent

log = logging.getLogger(__name__)

OnWrong = Callable[[], None]


_PIECE = 1 << 20


def digest_of(stream: BinaryIO) -> str:
    """Read a stream to its end; return its SHA-256 in hex."""
    sha256 = hashlib.sha256()
    while piece := stream.read(_PIECE):
        sha256.update(piece)
    return sha256.hexdigest()


class Comparison:
    """Compares bytes that a storage returns with a blob's checksum, or with its digest if it has no checksum yet."""

    def __init__(self, blob: BlobRecord) -> None:
        self._sum = xxhash.xxh3_128() if blob.checksum else hashlib.sha256()
        self._expected = blob.checksum or blob.digest

    def update(self, data: bytes | memoryview, /) -> None:
        """Add the next block."""
        self._sum.update(data)

    def matches(self) -> bool:
        """Return whether all blocks together are the content that was stored."""
        return self._sum.hexdigest() == self._expected


class VerifiedContent(WrappedContent):
    """A stream of a whole blob. If the bytes are not what was stored, the last `read` raises.

    The last piece of a damaged content is therefore never sent, and the client sees that the download was cut off.
    """

    def __init__(self, content: BinaryIO, blob: BlobRecord, on_wrong: OnWrong | None = None) -> None:
        """`on_wrong` is called before wrong bytes are refused."""
        super().__init__(content)
        self._blob = blob
        self._on_wrong = on_wrong
        self._size = 0
        self._comparison = Comparison(blob)
        # Whether the whole content was read, and its bytes are not those that were stored.
        self.is_wrong = False

    def read(self, size: int = -1, /) -> bytes:
        """Read at most `size` bytes. Raises `StorageUnavailable` instead of returning the last of wrong bytes."""
        data = self._content.read(size)
        self._size += len(data)
        self._comparison.update(data)
        is_over = self._size >= self._blob.size or (not data and size != 0)
        if is_over and (self._size != self._blob.size or not self._comparison.matches()):
            self.is_wrong = True
            raise wrong_bytes(self._blob, self._on_wrong)
        return data


class VerifiedFile(WrappedContent):
    """The same for a local file that the server sends by itself, without a thread.

    The server reads a piece, seeks back, and reads as much of it again as the client accepted. The last piece is kept,
    so that each byte is read and compared once.
    """

    def __init__(self, file: BinaryIO, blob: BlobRecord, on_wrong: OnWrong | None = None) -> None:
        """`on_wrong` is called before wrong bytes are refused."""
        super().__init__(file)
        self._blob = blob
        self._on_wrong = on_wrong
        self._position = 0
        self._piece, self._piece_start = b"", 0
        self._comparison, self._compared = Comparison(blob), 0

    def read(self, size: int = -1, /) -> bytes:
        """Read at most `size` bytes. Raises `StorageUnavailable` instead of returning the last of wrong bytes."""
        offset = self._position - self._piece_start
        if size < 0 or not 0 <= offset <= len(self._piece) - size:
            self._content.seek(self._position)
            piece = self._content.read(size)
            self._check(piece)
            self._piece, self._piece_start, offset = piece, self._position, 0
        data = self._piece if size == len(self._piece) else self._piece[offset : offset + size if size >= 0 else None]
        self._position += len(data)
        return data

    def _check(self, piece: bytes) -> None:
        """Compare the part of the piece that was not compared yet. Raises again at each read after a mismatch."""
        if self._position <= self._compared:
            new = memoryview(piece)[self._compared - self._position :]
            self._comparison.update(new)
            self._compared += len(new)
        if self._compared == self._blob.size and not self._comparison.matches():
            raise wrong_bytes(self._blob, self._on_wrong)

    def defer(self, wake: Callable[[], None]) -> None:
        """See `ContinuedFile.defer`; a file that has no other copy never waits."""
        if defer := getattr(self._content, "defer", None):
            defer(wake)

    @property
    def is_waiting(self) -> bool:
        """Whether `read` would return no bytes now, although the content has more."""
        has_piece = 0 <= self._position - self._piece_start < len(self._piece)
        return not has_piece and bool(getattr(self._content, "is_waiting", False))

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, position: int, whence: int = os.SEEK_SET, /) -> int:
        """Set the position, counted from the start, the current position or the end."""
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._blob.size}[whence]
        self._position = origin + position
        return self._position

    def tell(self) -> int:
        """Return the position."""
        return self._position


def verify(data: bytes, blob: BlobRecord, on_wrong: OnWrong | None = None) -> None:
    """Call `on_wrong` and raise `StorageUnavailable` if the data is not the blob's content."""
    comparison = Comparison(blob)
    comparison.update(data)
    if not comparison.matches():
        raise wrong_bytes(blob, on_wrong)


def wrong_bytes(blob: BlobRecord, on_wrong: OnWrong | None = None) -> StorageUnavailable:
    """Log that the storage returned other bytes than were stored, call `on_wrong`, and return the error."""
    if on_wrong is not None:
        on_wrong()
    log.critical("the bytes of blob %s (%s, key %s) are wrong", blob.id, blob.storage, blob.key)
    return StorageUnavailable("The storage gave other bytes than were stored")
