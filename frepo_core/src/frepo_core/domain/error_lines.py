"""Finds the line in the output of a program that says why it failed: the first one with an error."""

import re

# `ERROR:` of PostgreSQL, `ERROR 1064 (42000)` of MySQL, `pg_restore: error:`, `ValueError:` of Python, `fatal:` of git.
_ERROR = re.compile(r"\b(?:ERROR|FATAL|PANIC)\b|\b\w*[Ee]rror:|\b(?:fatal|panic): |\bGot error\b")
_LONGEST = 1000  # characters of a line that are looked at


def find_reason(output: str) -> str:
    """Return the first line with an error, otherwise the last one; empty for an empty output.

    A line behind a tab continues the one before, such as a hint of PostgreSQL, and is no reason on its own.
    """
    lines = [line for line in output.splitlines() if line.strip()]
    last = next((line for line in reversed(lines) if line[0] != "\t"), lines[-1] if lines else "")
    return next(filter(_is_error, lines), last).strip()


class FirstError:
    """Looks at an output that arrives in pieces, of which only the end is kept. `line` is empty until one is found."""

    def __init__(self) -> None:
        self._begun = b""
        self.line = ""

    def feed(self, data: bytes) -> None:
        """Look at the next bytes."""
        if self.line:
            return
        *lines, begun = (self._begun + data).split(b"\n")
        self._begun = begun[:_LONGEST]
        texts = (line[:_LONGEST].decode(errors="replace") for line in lines)
        self.line = next(filter(_is_error, texts), "").strip()

    def end(self) -> str:
        """Return the first line with an error; the last line may have no end."""
        self.feed(b"\n")
        return self.line


def _is_error(line: str) -> bool:
    return _ERROR.search(line[:_LONGEST]) is not None
