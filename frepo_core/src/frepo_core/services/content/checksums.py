"""The sums of a content: the digest that names it, and a checksum that costs next to nothing to compare with."""

import hashlib

import xxhash

from ..records import BlobRecord


class Checksums:
    """Both sums of a content that comes in.

    Its digest is SHA-256. Its checksum is XXH3-128, thirty times as fast: it tells bytes that changed by mischance
    as surely as the digest, but not those that somebody made to have the same checksum.
    """

    def __init__(self) -> None:
        self._sha256 = hashlib.sha256()
        self._xxh3 = xxhash.xxh3_128()

    def update(self, data: bytes | memoryview, /) -> None:
        """Take the next block."""
        self._xxh3.update(data)
        self._sha256.update(data)

    @property
    def digest(self) -> str:
        """SHA-256 of all that was taken, in hex."""
        return self._sha256.hexdigest()

    @property
    def checksum(self) -> str:
        """XXH3-128 of all that was taken, in hex."""
        return self._xxh3.hexdigest()


class Comparison:
    """Compares what a storage gives with what was stored: by the checksum, or the digest where there is none yet."""

    def __init__(self, blob: BlobRecord) -> None:
        self._sum = xxhash.xxh3_128() if blob.checksum else hashlib.sha256()
        self._expected = blob.checksum or blob.digest

    def update(self, data: bytes | memoryview, /) -> None:
        """Take the next block."""
        self._sum.update(data)

    def matches(self) -> bool:
        """Tell whether all that was taken is the content that was stored."""
        return self._sum.hexdigest() == self._expected
