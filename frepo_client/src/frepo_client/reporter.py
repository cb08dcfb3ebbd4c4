"""What the client prints: sentences for people and cron, JSON for programs, a progress bar on a terminal."""

from __future__ import annotations

import json
import re
import sys
import time
from typing import Any, Iterable

_URL_PASSWORD = re.compile(r"(\w+://[^\s:/@]*):[^\s@/]+@")
_SHORTEST_SECRET = 4


class Reporter:
    """Prints what happens. Values in `secrets` and passwords in URLs are replaced by `***`."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self._as_json = as_json
        self._quiet = quiet
        self._secrets: set[str] = set()
        self._began = time.monotonic()
        self._drawn = 0.0
        self._draws = sys.stderr.isatty() and not quiet and not as_json

    def hide(self, secrets: Iterable[str]) -> None:
        """Never print these texts, nor send them as the output of a command."""
        self._secrets.update(secret for secret in secrets if len(secret) >= _SHORTEST_SECRET)

    def masked(self, text: str) -> str:
        """Return a text without secrets."""
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, "***")
        return _URL_PASSWORD.sub(r"\1:***@", text)

    def say(self, text: str) -> None:
        """Print a sentence about the progress, to standard error."""
        if not self._quiet:
            self._clear()
            print(f"frepo-client: {self.masked(text)}", file=sys.stderr, flush=True)

    def fail(self, text: str, values: dict[str, Any] | None = None) -> None:
        """Print why something failed, also with --quiet; with --json the values, too, in one line."""
        self._clear()
        if values and self._as_json:
            self.result("", values)
        print(f"frepo-client: {self.masked(text)}", file=sys.stderr, flush=True)

    def result(self, text: str, values: dict[str, Any]) -> None:
        """Print a result: the sentence, or with --json the values in one line."""
        self._clear()
        if self._as_json:
            print(self.masked(json.dumps(values, sort_keys=True, default=str)), flush=True)
        elif not self._quiet:
            print(self.masked(text), flush=True)

    def progress(self, done: int, total: int | None = None) -> None:
        """Draw how many bytes are done, at most five times in a second."""
        now = time.monotonic()
        if not self._draws or now - self._drawn < 0.2:
            return
        self._drawn = now
        rate = done / max(now - self._began, 0.1)
        of = f" of {size_text(total)}, {100 * done // total} %" if total else ""
        print(f"\r\x1b[K{size_text(done)}{of}, {size_text(int(rate))}/s", end="", file=sys.stderr, flush=True)

    def _clear(self) -> None:
        if self._drawn:
            print("\r\x1b[K", end="", file=sys.stderr)
            self._drawn = 0.0


def size_text(size: int) -> str:
    """Return a size for people, `1.2 GB`."""
    value = float(size)
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "bytes" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"
