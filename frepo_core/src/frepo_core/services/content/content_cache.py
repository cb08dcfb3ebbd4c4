"""Keeps small contents that were read lately in memory: the storage is not asked for them again."""

import threading
from collections import OrderedDict

LARGEST = 64 << 10
# What the interpreter takes for an entry besides the content: the digest, two headers of objects, a place in the map.
ENTRY_BYTES = 512


class ContentCache:
    """At most `room` bytes of contents under their digests; what was not read for longest makes room for the next."""

    def __init__(self, room: int) -> None:
        self._left = room
        self._contents: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, digest: str) -> bytes | None:
        """Return a content that is kept."""
        with self._lock:
            content = self._contents.get(digest)
            if content is not None:
                self._contents.move_to_end(digest)
            return content

    def add(self, digest: str, content: bytes) -> None:
        """Keep a content that has been checked, unless it is larger than 64 KiB."""
        with self._lock:
            if digest in self._contents or len(content) > LARGEST:
                return
            self._contents[digest] = content
            self._left -= len(content) + ENTRY_BYTES
            while self._left < 0:
                _, gone = self._contents.popitem(last=False)
                self._left += len(gone) + ENTRY_BYTES
