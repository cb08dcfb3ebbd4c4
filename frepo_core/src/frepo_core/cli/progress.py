"""Progress of long work: a bar with rate and time left on a terminal, lines elsewhere."""

import sys
import time
from typing import Self, TextIO

from frepo_core.domain.sizes import readable_size

LINE_SECONDS = 10
BAR_SECONDS = 0.1
WIDTH = 30


class _Display:
    """One line that is replaced on a terminal, else a line each ten seconds. On stderr, because stdout may be piped."""

    def __init__(self, what: str, stream: TextIO | None = None) -> None:
        self._what = what
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream.isatty()
        self._began = self._shown = time.monotonic()
        self._is_open = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_open:
            self._stream.write("\n")

    def _is_due(self, now: float) -> bool:
        """Return whether the last text was shown long enough ago."""
        return now - self._shown >= (BAR_SECONDS if self._is_terminal else LINE_SECONDS)

    def _show(self, text: str, now: float) -> None:
        self._shown = now
        self._is_open = self._is_terminal
        self._stream.write(f"\r{text}\x1b[K" if self._is_terminal else f"{text}\n")
        self._stream.flush()


class ProgressLine(_Display):
    """Called with a text about the progress."""

    def __call__(self, text: str) -> None:
        """Show the text, if it is time."""
        if self._is_due(now := time.monotonic()):
            self._show(f"{self._what}: {text}", now)


class ProgressBar(_Display):
    """Called after each blob."""

    _size = 0

    def __call__(self, *, done: int, total: int, size: int, size_left: int | None = None) -> None:
        """Count a blob; update the display if the last update is long enough ago.

        The time that is left is computed from `size_left` (bytes) if that is known, else from the number of blobs.
        """
        self._size += size
        now = time.monotonic()
        if done == total or self._is_due(now):
            self._show(self._describe(done, total, max(now - self._began, 1e-6), size_left), now)

    def _describe(self, done: int, total: int, seconds: float, size_left: int | None) -> str:
        rate = f"{readable_size(int(self._size / seconds))}/s"
        if not total:
            return f"{self._what}: {done} blobs, {readable_size(self._size)}, {rate}"
        share = max(total - done, 0) / done if size_left is None else size_left / max(self._size, 1)
        left = int(seconds * share)
        bar = "#" * min(WIDTH * done // total, WIDTH)
        clock = f"{left // 3600:02}:{left // 60 % 60:02}:{left % 60:02}"
        return f"{self._what} [{bar:<{WIDTH}}] {done}/{total}, {readable_size(self._size)}, {rate}, {clock} left"
