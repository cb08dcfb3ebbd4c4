"""The digest of a content, which identifies it, and its checksum, which is fast to compare."""

import hashlib

import xxhash

from ..base.records import BlobRecord


class Checksums:
    """Computes the digest (SHA-256) and the checksum (XXH3-128) of a content.

    The checksum is thirty times as fast. It detects accidental changes as reliably as the digest, but not contents
    that were constructed to have the same checksum.
    """

    def __init__(self) -> None:
        self._sha256 = hashlib.sha256()
        self._xxh3 = xxhash.xxh3_128()

    def update(self, data: bytes | memoryview, /) -> None:
        """Add the next block."""
        self._xxh3.update(data)
        self._sha256.update(data)

    @property
    def digest(self) -> str:
        """SHA-256 of all blocks, in hex."""
        return self._sha256.hexdigest()

    @property
    def checksum(self) -> str:
        """XXH3-128 of all blocks, in hex."""
        return self._xxh3.hexdigest()


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
