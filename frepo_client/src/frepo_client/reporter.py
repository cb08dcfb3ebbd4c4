"""What the client prints: sentences for people and cron, JSON for programs, a progress bar on a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import time
from collections.abc import Iterable
from typing import Any, TextIO

_URL_PASSWORD = re.compile(r"(\w+://[^\s:/@]*):[^\s/]+@")
_SHORTEST_SECRET = 4
# C0, C1, the ends of lines, the marks of direction (UAX 9), and what cannot be encoded.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


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

    def shown(self, text: str) -> str:
        """Return a text as a terminal may get it: without secrets, and without characters that control it."""
        return plain_text(self.masked(text))

    def say(self, text: str) -> None:
        """Print a sentence about the progress, to standard error."""
        if not self._quiet:
            self._print(f"frepo-client: {text}", sys.stderr)

    def fail(self, text: str, values: dict[str, Any] | None = None) -> None:
        """Print why something failed, also with --quiet; with --json the values, too, in one line."""
        if values and self._as_json:
            self.result("", values)
        self._print(f"frepo-client: {text}", sys.stderr)

    def result(self, text: str, values: dict[str, Any]) -> None:
        """Print a result: the sentence, or with --json the values in one line."""
        if self._as_json:
            # Masked first: JSON writes some characters of a secret in another way.
            self._print(json.dumps(self._masked_values(values), sort_keys=True, default=str), sys.stdout)
        elif not self._quiet:
            self._print(text, sys.stdout)

    def stored(self, text: str, values: dict[str, Any]) -> None:
        """Print what became of something that is done: that it cannot be printed does not undo it."""
        try:
            self.result(text, values)
        except OSError as error:
            _silence(sys.stdout)
            self.say(f"standard output cannot be written: {error.strerror}")

    def _print(self, text: str, stream: TextIO) -> None:
        try:
            self._clear()
            print(self.shown(text), file=stream, flush=True)
        except OSError:
            if stream is not sys.stderr:
                raise
            _silence(stream)  # a log that is full ends no backup

    def _masked_values(self, values: Any) -> Any:
        if isinstance(values, dict):
            return {name: self._masked_values(value) for name, value in values.items()}
        if isinstance(values, (list, tuple)):
            return [self._masked_values(value) for value in values]
        return self.masked(values) if isinstance(values, str) else values

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


def _silence(stream: TextIO) -> None:
    """Lose what is written to a stream from now on. Otherwise Python fails at its end with what it could not write."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def plain_text(text: str) -> str:
    r"""Return a text with control characters as `\x1b` or `\n`: that of a server must not control a terminal."""
    return _CONTROLS.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return repr(match[0])[1:-1] if code < 0x7F else f"\\u{code:04x}"


def size_text(size: int) -> str:
    """Return a size for people, with three digits, as the service and its web console write it: `1.20 GB`."""
    if size < 1000:
        return "1 byte" if size == 1 else f"{size} bytes"
    value, units = size / 1000, ["kB", "MB", "GB", "TB", "PB"]
    while value >= 999.5 and len(units) > 1:
        value, units = value / 1000, units[1:]
    decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:,.{decimals}f} {units[0]}"
