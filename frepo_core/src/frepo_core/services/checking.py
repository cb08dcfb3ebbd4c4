"""Checks a whole content while it is read, so that wrong bytes are never taken for the right ones."""

import hashlib
import logging
from typing import BinaryIO, Self

from frepo_core.errors import StorageUnavailable

from .facts import BlobFacts

log = logging.getLogger(__name__)


class CheckedContent:
    """A blob's bytes from first to last; the read that would end them raises where they are not what was stored.

    So the last piece of wrong bytes is never given away, and a client sees a download that broke off.
    """

    def __init__(self, content: BinaryIO, blob: BlobFacts) -> None:
        self._content = content
        self._blob = blob
        self._size = 0
        self._sha256 = hashlib.sha256()

    def read(self, size: int = -1, /) -> bytes:
        """Read at most `size` bytes. Raises `StorageUnavailable` in place of the last of wrong ones."""
        data = self._content.read(size)
        self._size += len(data)
        self._sha256.update(data)
        is_over = self._size >= self._blob.size or (not data and size != 0)
        if is_over and (self._size != self._blob.size or self._sha256.hexdigest() != self._blob.digest):
            log.critical(
                "the bytes of blob %s (%s, key %s) are wrong", self._blob.id, self._blob.storage, self._blob.key
            )
            raise StorageUnavailable("The storage gave other bytes than were stored")
        return data

    def close(self) -> None:
        """Close the content below."""
        self._content.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
