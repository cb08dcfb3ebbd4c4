"""Compares the bytes that a storage returns with what was stored."""

import hashlib
from typing import BinaryIO

import xxhash

from ..base.records import BlobRecord

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
