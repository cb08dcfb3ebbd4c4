"""Caches small contents in memory, so that repeated downloads do not read them from the storage again."""

import threading
from collections import OrderedDict

MAX_CONTENT_SIZE = 64 << 10
# The interpreter's memory for an entry besides the content: the digest, two object headers and a slot in the map.
ENTRY_BYTES = 512


class ContentCache:
    """An LRU cache of contents under their digests, of at most `size` bytes."""

    def __init__(self, size: int) -> None:
        self._free = size
        self._contents: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, digest: str) -> bytes | None:
        """Return a cached content, or None."""
        with self._lock:
            content = self._contents.get(digest)
            if content is not None:
                self._contents.move_to_end(digest)
            return content

    def add(self, digest: str, content: bytes) -> None:
        """Cache a verified content, unless it is larger than 64 KiB. Evicts the least recently used ones."""
        with self._lock:
            if digest in self._contents or len(content) > MAX_CONTENT_SIZE:
                return
            self._contents[digest] = content
            self._free -= len(content) + ENTRY_BYTES
            while self._free < 0:
                _, evicted = self._contents.popitem(last=False)
                self._free += len(evicted) + ENTRY_BYTES
