"""A storage in memory, for tests where bytes do not matter."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from typing import BinaryIO

from frepo_core.plugins import BlobNotFound, BlobRetained, BlobStat, StorageBackend, StorageFull, exactly, is_key


@dataclass(frozen=True, kw_only=True)
class _Blob:
    content: bytes
    stat: BlobStat


class MemoryStorage(StorageBackend):
    """Stores blobs in a dictionary. `capacity` limits the bytes of all blobs together; None: no limit.

    With `retains`, it keeps blobs from deletion until their time.
    """

    def __init__(self, capacity: int | None = None, *, retains: bool = False) -> None:
        self._capacity = capacity
        self._retains = retains
        self.retained: dict[str, datetime] = {}
        self._blobs: dict[str, _Blob] = {}
        self._lock = threading.Lock()

    def store(self, key: str, content: BinaryIO, size: int) -> None:
        """Read the whole content, then store it."""
        if not is_key(key):
            raise BlobNotFound(f"{key!r} is not a key")
        self._refuse_without_room(size)
        data = bytearray()
        for chunk in exactly(content, size):
            data += chunk
        stat = BlobStat(key=key, size=size, modified=datetime.now(UTC))
        with self._lock:
            self._blobs[key] = _Blob(content=bytes(data), stat=stat)

    def open(self, key: str, start: int = 0, length: int | None = None) -> BinaryIO:
        """Open a copy of the requested part."""
        with _translated(key):
            content = self._blobs[key].content
        return BytesIO(content[start:] if length is None else content[start : start + length])

    def delete(self, key: str) -> None:
        """Delete the blob."""
        with self._lock:
            until = self.retained.get(key)
            if until is not None and datetime.now(UTC) < until:
                raise BlobRetained(f"{key!r} is retained until {until}", until=until)
            self._blobs.pop(key, None)
            self.retained.pop(key, None)

    def retain(self, key: str, until: datetime) -> bool:
        """Keep the blob, if the storage was made for that."""
        if self._retains:
            self.stat(key)
            self.retained[key] = max(until, self.retained.get(key, until))
        return self._retains

    def stat(self, key: str) -> BlobStat:
        """Return size and time."""
        with _translated(key):
            return self._blobs[key].stat

    def list(self) -> Iterator[BlobStat]:
        """Yield the blobs that exist at the time of the call."""
        with self._lock:
            blobs = tuple(self._blobs.values())
        yield from (blob.stat for blob in blobs)

    def free_space(self) -> int | None:
        """Return what the capacity leaves."""
        return None if self._capacity is None else max(0, self._capacity - self._used())

    def total_space(self) -> int | None:
        """Return the capacity."""
        return self._capacity

    def _used(self) -> int:
        with self._lock:
            return sum(blob.stat.size for blob in self._blobs.values())

    def _refuse_without_room(self, size: int) -> None:
        used = self._used()
        if self._capacity is not None and used + size > self._capacity:
            raise StorageFull("The memory storage has no room left") from MemoryError(f"{used + size} bytes")


@contextmanager
def _translated(key: str) -> Iterator[None]:
    try:
        yield
    except KeyError as error:
        raise BlobNotFound(f"No blob {key!r} in the memory storage") from error
