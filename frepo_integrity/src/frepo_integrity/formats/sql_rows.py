"""Tells the start of a dump in SQL from a text in a row that looks like one: dumps are stored in tables, too."""

import re

_QUOTES = re.compile(rb"'+")
# What follows the end of a text in a statement. The first text of a dump is a setting such as 'UTF8'.
_AFTER_TEXT = b",);:"
# pg_dump writes the rows of a table between these two lines, each row as a line, with each backslash twice.
_COPY, _COPY_END = b" FROM stdin;", b"\n\\."
_RESTRICT = re.compile(rb"\s*\\restrict ")
# What mariadb-dump writes before its first line. It has a backslash, too.
_SANDBOX = re.compile(rb"/\*M?!999999\\- [^\n]{0,60}\n\Z")


class RowDetector:
    """Looks at a stream for what shows whether a place is in a row of a table."""

    def __init__(self) -> None:
        self._is_copying = False
        self._seen = 0  # bytes of the window that is read next
        self._quotes = b""

    def read(self, window: bytes, again: int) -> None:
        """Look at the next bytes, to their end. The next window begins with the last `again` bytes of this one."""
        self._copies_at(window, len(window))
        self._seen = min(again, len(window))

    def is_copied(self, window: bytes, match: re.Match[bytes]) -> bool:
        """Whether a match in the bytes that are read next is rows of `COPY`: whole lines of its only column.

        A dump that was cut after a whole row, before another one, looks like that, too, if it is of an old pg_dump.
        """
        before = window[max(match.start() - 100, 0) : match.start()]
        if not before.endswith(b"\n") or _SANDBOX.search(before) or _RESTRICT.match(window, match.end()):
            return False
        return self._copies_at(window, match.start())

    def begin_text(self) -> None:
        """Begin to look for the end of a text in a statement, in what follows now."""
        self._quotes = b""

    def is_in_literal(self, data: bytes) -> bool | None:
        """Whether the place before these bytes is within a text of a statement; None if they do not show it.

        A quote in a text is written twice: a single one ends it, and a comma or a bracket follows.
        """
        text = self._quotes + data
        self._quotes = b""
        for match in _QUOTES.finditer(text):
            if match.end() == len(text):
                self._quotes = match[0]
            elif len(match[0]) % 2:
                return text[match.end()] in _AFTER_TEXT
        return None

    def _copies_at(self, window: bytes, position: int) -> bool:
        """Whether a place is between the two lines: the last of them decides. Each byte is looked at once."""
        new = window[max(self._seen - len(_COPY) + 1, 0) : position]
        begin, end = new.rfind(_COPY), new.rfind(_COPY_END)
        if begin != end:
            self._is_copying = begin > end
        self._seen = max(self._seen, position)
        return self._is_copying
