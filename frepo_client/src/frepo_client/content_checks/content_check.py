"""Whether a stream that passes is a whole dump: the end of its container, and the last line in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .compressions import LONGEST_BEGIN, Compression, DamagedError, find_compression
from .dumps import HEAD, TAIL, find_dump

_DEEPEST = 3


@dataclass(frozen=True)
class Finding:
    """What was found. `outcome` is `good` or `broken`, empty if the format is unknown.

    `covers` is what a good one has looked at, `container` or `content`.
    """

    outcome: str = ""
    covers: str = "container"
    message: str = ""
    is_empty: bool = False

    def values(self) -> dict[str, Any]:
        """Return it as it is sent with a commit."""
        values = {"outcome": self.outcome, "message": self.message}
        return {**values, "covers": self.covers} if self.outcome == "good" else values


class ContentCheck:
    """Takes a stream piece by piece, and keeps little of it."""

    def __init__(self, depth: int = 0) -> None:
        self._head = self._first = b""
        self._tail = bytearray()
        self._size = 0
        self._depth = depth
        self._compression: Compression | None = None
        self._inner: ContentCheck | None = None
        self._problem: DamagedError | None = None

    def update(self, piece: bytes) -> None:
        """Look at the next bytes. Nothing in them is an error of this method."""
        if len(self._head) < HEAD:
            self._head += piece[: HEAD - len(self._head)]
        self._tail += piece[-TAIL:]
        if len(self._tail) > 2 * TAIL:
            del self._tail[:-TAIL]
        is_begun, self._size = self._size >= LONGEST_BEGIN, self._size + len(piece)
        if not is_begun and self._size >= LONGEST_BEGIN and self._depth < _DEEPEST:
            piece = self._first + piece
            self._compression = find_compression(piece)
            self._inner = ContentCheck(self._depth + 1) if self._compression else None
        elif not is_begun:
            self._first += piece
        if self._compression and self._inner and self._problem is None:
            try:
                for plain in self._compression.plain(piece):
                    self._inner.update(plain)
            except DamagedError as error:
                self._problem = error

    def finish(self) -> Finding:
        """Return what was found, when the stream has ended."""
        if not self._size:
            return Finding(is_empty=True)
        if self._compression and self._inner:
            return self._of_compression(self._compression, self._inner)
        dump = find_dump(self._head)
        if dump is None:
            return Finding()
        if dump.has_end(bytes(self._tail[-TAIL:]), self._size):
            return Finding("good", dump.covers, f"The {dump.name} has its end")
        return Finding("broken", message=f"The {dump.name} ends too early: {dump.end} is missing")

    def _of_compression(self, compression: Compression, inner: ContentCheck) -> Finding:
        problem = self._problem
        if problem is None and not compression.is_at_end:
            problem = DamagedError("it ends too early")
        if problem:
            return Finding("broken", message=f"The {compression.name} data is not whole: {problem}")
        whole = Finding("good", message=f"The {compression.name} data is whole")
        if not compression.shows_content:
            return Finding(whole.outcome, message=whole.message, is_empty=compression.is_empty)
        found = inner.finish()
        return found if found.outcome or found.is_empty else whole
