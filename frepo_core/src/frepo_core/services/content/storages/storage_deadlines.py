"""Limits how long an upload waits for a storage that makes no progress, whatever the size of the content."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from frepo_core.errors import StorageUnavailable
from frepo_core.plugins import SessionFile

from ...base.plugin_deadlines import PluginHangs, PluginNotRunError, PluginThreads

# For how many seconds a storage may read no byte, and how often that is checked.
SILENCE, LOOK_SECONDS = 60.0, 5.0
# At the end of a large content, a disk writes its cache. It gets one more second for each of these bytes.
CACHE_RATE = 10 * 10**6
LONGEST = 900.0


class WatchedContent:
    """A content that records when the storage last read from it.

    It has a descriptor of its own, because a hanging storage may continue when the request has closed the content, and
    the system may have given the number to another file.
    """

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._descriptor: int | None = None
        self._allowed = min(SILENCE + size / CACHE_RATE, max(SILENCE, LONGEST))
        self._last = time.monotonic()
        self._lock = threading.Lock()
        self._is_used = False
        self.is_given_up = False

    def start(self) -> None:
        """Note that a storage uses the content from now on."""
        self._is_used, self._last = True, time.monotonic()

    def has_ended(self) -> bool:
        """Note that the storage no longer uses the content. Return whether it was given up: then clean up here."""
        with self._lock:
            self._is_used = False
            return self.is_given_up

    def give_up(self) -> None:
        """Stop waiting for the storage, unless it has just ended."""
        with self._lock:
            self.is_given_up = self._is_used

    def makes_progress(self) -> bool:
        """Return whether the storage has read within the allowed time."""
        return time.monotonic() - self._last < self._allowed

    def read(self, size: int = -1, /) -> bytes:
        """Read at most `size` bytes. Raises `StorageUnavailable` if the upload was given up."""
        if self.is_given_up:
            raise _given_up()
        data = self._stream.read(size)
        self._last = time.monotonic()
        return data

    def note_progress(self, size: int) -> None:
        """Note that the storage has read something else for the upload. Raises as `read`."""
        if self.is_given_up:
            raise _given_up()
        self._last = time.monotonic()

    def link_to(self, target: Path) -> bool:
        """Link the content into place if it is a `SessionFile`, see there. Raises as `read`."""
        if self.is_given_up:
            raise _given_up()
        is_linked = isinstance(self._stream, SessionFile) and self._stream.link_to(target)
        self._last = time.monotonic()
        return is_linked

    def tell(self) -> int:
        """Return the position."""
        return self._stream.tell()

    def fileno(self) -> int:
        """Return a descriptor that stays open until `release`. Raises `OSError` if the content is not a file."""
        if self._descriptor is None:
            self._descriptor = os.dup(self._stream.fileno())
        return self._descriptor

    def release(self) -> None:
        """Close the descriptor."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


class StoringThreads:
    """Lets uploads wait for a storage in threads. At most a few may hang: then others are refused at once."""

    def __init__(self) -> None:
        self._threads = PluginThreads("frepo storing", LOOK_SECONDS)

    def wait(self, storage: str, content: WatchedContent, store: Callable[[], bool]) -> bool:
        """Return or raise what `store` does. Raises `StorageUnavailable` if the storage makes no progress."""
        content.start()
        try:
            return self._threads.call(store, is_excused=content.makes_progress, seconds=LOOK_SECONDS)
        except PluginHangs as error:
            if not isinstance(error, PluginNotRunError):
                content.give_up()
            raise StorageUnavailable(
                f"The storage {storage!r} hangs: it took no byte for {SILENCE:g} s, or earlier uploads still wait for "
                "it. Check the disk or the server. The upload can be repeated"
            ) from error


def _given_up() -> StorageUnavailable:
    return StorageUnavailable("The upload has ended, because the storage took too long")
