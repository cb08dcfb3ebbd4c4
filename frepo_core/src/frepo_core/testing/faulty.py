"""A storage with injected faults: it wraps a real one and fails, stalls or truncates at the n-th call."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal, Self, cast

from frepo_core.plugins import BlobStat, StorageBackend, StorageUnavailable

Method = Literal["store", "open", "delete", "stat", "list", "check", "url", "path"]


def _broken() -> Exception:
    error = StorageUnavailable("The storage was made to fail")
    error.__cause__ = ConnectionError("made to fail")
    return error


@dataclass(frozen=True)
class Fault:
    """The fault at the `nth` call of a method, counted from 1 (0: at each call). This base class: no fault.

    With `after`, it goes wrong only when so many bytes have passed: those that `store` takes from its
    content, or those that are read from what `open` returned.
    """

    method: Method
    nth: int = field(default=1, kw_only=True)
    after: int | None = field(default=None, kw_only=True)

    def happen(self) -> None:
        """Go wrong."""

    def size(self, size: int) -> int:
        """Return the size that is passed to the wrapped storage."""
        return size

    def wrap(self, content: BinaryIO) -> BinaryIO:
        """Return the content as it passes."""
        return content if self.after is None else cast(BinaryIO, _Interrupted(content, self.after, self._passed))

    def _passed(self) -> bool:
        """Inject the fault within the bytes; return whether more bytes follow."""
        self.happen()
        return True


@dataclass(frozen=True)
class Fail(Fault):
    """Raise what `error` makes; by default a `StorageUnavailable` caused by a `ConnectionError`."""

    error: Callable[[], Exception] = field(default=_broken, kw_only=True)

    def happen(self) -> None:
        """Raise."""
        raise self.error()


@dataclass(frozen=True)
class Stall(Fault):
    """Wait until `release` is set, at most `seconds`; `reached` is set when the waiting begins."""

    seconds: float = field(default=60, kw_only=True)
    reached: threading.Event = field(default_factory=threading.Event, kw_only=True)
    release: threading.Event = field(default_factory=threading.Event, kw_only=True)

    def happen(self) -> None:
        """Wait."""
        self.reached.set()
        self.release.wait(self.seconds)


@dataclass(frozen=True)
class Truncate(Fault):
    """Lose in silence what follows the first `after` bytes (default: all), when stored or when read."""

    after: int = field(default=0, kw_only=True)

    def size(self, size: int) -> int:
        """Pretend that the content is only as long as the part that is kept."""
        return min(size, self.after)

    def _passed(self) -> bool:
        return False


class FaultyStorage(StorageBackend):
    """Hands each call to `inner`, but for the `faults`. `calls` counts the calls of each method."""

    def __init__(self, inner: StorageBackend, *faults: Fault) -> None:
        self.inner = inner
        self.faults = list(faults)
        self.calls: Counter[str] = Counter()
        self._lock = threading.Lock()

    def store(self, key: str, content: BinaryIO, size: int) -> None:
        """Store with the fault."""
        fault = self._enter("store")
        self.inner.store(key, fault.wrap(content), fault.size(size))

    def open(self, key: str, start: int = 0, length: int | None = None) -> BinaryIO:
        """Open with the fault, now or while the blob is read."""
        return self._enter("open").wrap(self.inner.open(key, start, length))

    def delete(self, key: str) -> None:
        """Delete, or not."""
        self._enter("delete")
        self.inner.delete(key)

    def stat(self, key: str) -> BlobStat:
        """Tell size and time, or not."""
        self._enter("stat")
        return self.inner.stat(key)

    def list(self) -> Iterator[BlobStat]:
        """List with the fault, which occurs at the first blob."""
        self._enter("list")
        yield from self.inner.list()

    def check(self) -> None:
        """Check by this storage's own calls, so that their faults count."""
        self._enter("check")
        super().check()

    def url(self, key: str, *, expires: int, filename: str, content_type: str) -> str | None:
        """Make the URL, or not."""
        self._enter("url")
        return self.inner.url(key, expires=expires, filename=filename, content_type=content_type)

    def path(self, key: str) -> Path | None:
        """Name the file, or not."""
        self._enter("path")
        return self.inner.path(key)

    def _enter(self, method: Method) -> Fault:
        """Count the call; raise the fault now, or return it for the bytes."""
        with self._lock:
            self.calls[method] += 1
            due = [fault for fault in self.faults if fault.method == method and fault.nth in {0, self.calls[method]}]
        fault = due[0] if due else Fault(method)
        if fault.after is None:
            fault.happen()
        return fault


class _Interrupted:
    """Gives the first `left` bytes of a file; then asks `event`, once, whether the others follow."""

    def __init__(self, file: BinaryIO, left: int, event: Callable[[], bool]) -> None:
        self._file = file
        self._left: int | None = left
        self._event = event
        self._ended = False

    def read(self, size: int = -1, /) -> bytes:
        """Read as far as the event, or beyond it."""
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
        """Close the file below."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
