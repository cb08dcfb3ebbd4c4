"""A storage with injected faults: it wraps a real one and fails, stalls or truncates at the n-th call."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Literal, Self, cast

from frepo_core.plugins import BlobStat, StorageBackend, StorageUnavailable

Method = Literal["store", "open", "delete", "retain", "stat", "list", "check", "url", "path"]


def _broken() -> Exception:
    error = StorageUnavailable("The storage was made to fail")
    error.__cause__ = ConnectionError("made to fail")
    return error


@dataclass(frozen=True)
class Fault:
    """A fault at the `nth` call of a method, counted from 1 (0: at each call). This base class has no effect.

    With `after`, the fault occurs after this many bytes: bytes that `store` reads from its content, or bytes that are
    read from the result of `open`.
    """

    method: Method
    nth: int = field(default=1, kw_only=True)
    after: int | None = field(default=None, kw_only=True)

    def happen(self) -> None:
        """Cause the fault."""

    def size(self, size: int) -> int:
        """Return the size that is passed to the wrapped storage."""
        return size

    def wrap(self, content: BinaryIO) -> BinaryIO:
        """Return the content, with the fault after `after` bytes."""
        return content if self.after is None else cast(BinaryIO, _Interrupted(content, self.after, self._passed))

    def _passed(self) -> bool:
        """Cause the fault within the content; return whether the remaining bytes follow."""
        self.happen()
        return True


@dataclass(frozen=True)
class Fail(Fault):
    """Raises the exception that `error` makes; by default `StorageUnavailable`, caused by a `ConnectionError`."""

    error: Callable[[], Exception] = field(default=_broken, kw_only=True)

    def happen(self) -> None:
        """Raise the exception."""
        raise self.error()


@dataclass(frozen=True)
class Stall(Fault):
    """Wait until `release` is set, at most `seconds`; `reached` is set when the waiting begins."""

    seconds: float = field(default=60, kw_only=True)
    reached: threading.Event = field(default_factory=threading.Event, kw_only=True)
    release: threading.Event = field(default_factory=threading.Event, kw_only=True)

    def happen(self) -> None:
        """Wait for `release`."""
        self.reached.set()
        self.release.wait(self.seconds)


@dataclass(frozen=True)
class Truncate(Fault):
    """Drops all bytes after the first `after` (default: 0) without an error, when a blob is stored or read."""

    after: int = field(default=0, kw_only=True)

    def size(self, size: int) -> int:
        """Return the size of the part that is kept."""
        return min(size, self.after)

    def _passed(self) -> bool:
        return False


class FaultyStorage(StorageBackend):
    """Passes each call to `inner`, with the `faults`. `calls` counts the calls of each method."""

    def __init__(self, inner: StorageBackend, *faults: Fault) -> None:
        self.inner = inner
        self.faults = list(faults)
        self.calls: Counter[str] = Counter()
        self._lock = threading.Lock()

    def store(self, key: str, content: BinaryIO, size: int) -> None:
        """Store the blob, with the fault of this call."""
        fault = self._enter("store")
        self.inner.store(key, fault.wrap(content), fault.size(size))

    def open(self, key: str, start: int = 0, length: int | None = None) -> BinaryIO:
        """Open the blob, with the fault now or while it is read."""
        return self._enter("open").wrap(self.inner.open(key, start, length))

    def delete(self, key: str) -> None:
        """Delete the blob, with the fault of this call."""
        self._enter("delete")
        self.inner.delete(key)

    def retain(self, key: str, until: datetime) -> bool:
        """Keep the blob, with the fault of this call."""
        self._enter("retain")
        return self.inner.retain(key, until)

    def stat(self, key: str) -> BlobStat:
        """Return size and time, with the fault of this call."""
        self._enter("stat")
        return self.inner.stat(key)

    def list(self) -> Iterator[BlobStat]:
        """List the blobs; the fault occurs before the first one."""
        self._enter("list")
        yield from self.inner.list()

    def check(self) -> None:
        """Check the storage through the methods of this class, so that their faults apply."""
        self._enter("check")
        super().check()

    def url(self, key: str, *, expires: int, filename: str, content_type: str) -> str | None:
        """Return the URL, with the fault of this call."""
        self._enter("url")
        return self.inner.url(key, expires=expires, filename=filename, content_type=content_type)

    def path(self, key: str) -> Path | None:
        """Return the path, with the fault of this call."""
        self._enter("path")
        return self.inner.path(key)

    def free_space(self) -> int | None:
        """Return the free space. It has no faults."""
        return self.inner.free_space()

    def total_space(self) -> int | None:
        """Return the total space. It has no faults."""
        return self.inner.total_space()

    def _enter(self, method: Method) -> Fault:
        """Count the call; cause its fault now, or return it if it occurs within the content."""
        with self._lock:
            self.calls[method] += 1
            due = [fault for fault in self.faults if fault.method == method and fault.nth in {0, self.calls[method]}]
        fault = due[0] if due else Fault(method)
        if fault.after is None:
            fault.happen()
        return fault


class _Interrupted:
    """Returns the first `left` bytes of a file, then calls `event` once: True if the remaining bytes follow."""

    def __init__(self, file: BinaryIO, left: int, event: Callable[[], bool]) -> None:
        self._file = file
        self._left: int | None = left
        self._event = event
        self._ended = False

    def read(self, size: int = -1, /) -> bytes:
        """Read at most `size` bytes; one call never reads across the event."""
        if size < 0:
            return b"".join(iter(lambda: self.read(1 << 16), b""))
        if self._left == 0 and size:
            self._left = None
            self._ended = not self._event()
        if self._ended:
            return b""
        data = self._file.read(size if self._left is None else min(size, self._left))
        if self._left is not None:
            self._left -= len(data)
        return data

    def close(self) -> None:
        """Close the underlying file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
