"""Follows the dumps in a stream: where each begins and ends, and what is between two."""

import re
from collections import Counter

from ..messages import find_fatal, find_skipped
from .sql_programs import COMPLETED, NOTES_LAST, PROGRAMS, WITHOUT_COMMENTS, XML_END, Program

# No start and no end of a dump is longer.
_OVERLAP = 512
# Messages between two dumps are in front of everything else.
_MAX_BETWEEN = 4096
_LAST_LINES = {program.last: program.last_line for program in PROGRAMS}
# Each start and each last line has one of these. Most blocks of a dump have none, and need no other search.
LITERALS = (b"ump", b"@OLD_", b"PRAGMA foreign_keys=OFF;", b"\nCOMMIT;")


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


class Dumps:
    """Counts the dumps that begin and end in a stream, by programs, and those that are open, by their last lines.

    mysqldump and mariadb-dump have the same last line. A row of a table can contain the first lines of a dump: no dump
    begins there.

    `failure` is a message between two dumps, and `has_resumed` whether a last line was none, because its dump went on.
    `skipped` is a message within a dump of mysqldump or mariadb-dump.
    """

    def __init__(self) -> None:
        self.begun: Counter[Program] = Counter()
        self.open_now: Counter[str] = Counter()
        self.failure = self.skipped = ""
        self.has_resumed = False
        self._recent = b""
        # What follows the last line of a dump while none is open: its first bytes, and its last ones.
        self._between = self._behind = b""
        self._within = b""
        self._ended: Program | None = None
        # The last line of the dump that began last, and whether what it shares with dumps without comments was there.
        self._latest = ""
        self._has_first_statements = self._has_last_statements = False
        self._rows = RowDetector()
        self._doubtful: list[Program] = []

    def read(self, data: bytes) -> None:
        """Look at the next bytes."""
        overlap, window = len(self._recent), self._recent + data
        position = overlap
        for match, program in _find_starts_and_ends(window, overlap):
            self._resolve(window[position : match.end()])
            self._look_within(window[position : match.start()])
            self._look_behind(window[position : match.start()])
            position = max(position, match.end())
            if isinstance(program, Program):
                self._begin(program, window, match)
            else:
                self._end(program)
        self._resolve(window[position:])
        self._look_within(window[position:])
        self._look_behind(window[position:])
        self._rows.read(window, _OVERLAP)
        self._recent = window[-_OVERLAP:]

    def _begin(self, program: Program, window: bytes, match: re.Match[bytes]) -> None:
        if self.open_now[XML_END] and program.last != XML_END:
            return  # a text in XML has line ends; nobody sends XML and SQL in one stream
        if self.open_now[COMPLETED] and program.name == WITHOUT_COMMENTS and not self._has_first_statements:
            self._has_first_statements = True
            return  # a dump with comments begins with the same statements
        if self.begun.total():  # a row may have closed the dump that is open
            if self._rows.is_copied(window, match):
                return
            if not self._doubtful:
                self._rows.begin_text()
            self._doubtful.append(program)
        self.failure = self.failure or find_fatal(self._between)
        self._between, self._ended, self._latest = b"", None, program.last
        self._within = b""
        self._has_first_statements = self._has_last_statements = False
        self.begun[program] += 1
        self.open_now[program.last] += 1

    def _end(self, last: str) -> None:
        if last == COMPLETED and self._has_last_statements:
            return  # they have ended it
        if last == NOTES_LAST and self.open_now[COMPLETED] and self._latest == COMPLETED:
            # A dump with comments ends with the same statements, and its last comment may have been filtered.
            last, self._has_last_statements = COMPLETED, True
        self.open_now[last] = max(0, self.open_now[last] - 1)
        if not self.open_now.total():
            self._ended = next((one for one in self.begun if one.last == last), None)
            self._between = self._behind = b""

    def _look_within(self, data: bytes) -> None:
        """Look for messages of mysqldump in its dump. Rows of its XML have line ends, so nothing is certain there."""
        if self.skipped or not (self.open_now[COMPLETED] or self.open_now[NOTES_LAST]):
            return
        text = self._within + data
        self.skipped = find_skipped(text)
        self._within = text[-_OVERLAP:]

    def _look_behind(self, data: bytes) -> None:
        """Look at what follows the last line of a dump: it was a text in it if the dump goes on."""
        if self._ended is None:
            return
        self._between += data[: max(0, _MAX_BETWEEN - len(self._between))]
        text = self._behind + data
        self._behind = text[-_OVERLAP:]
        if self._ended.more.search(text):
            self.open_now[self._ended.last] += 1
            self.has_resumed, self._ended = True, None

    def _resolve(self, data: bytes) -> None:
        """Forget the doubtful starts if these bytes, which follow them, show that they are in a row."""
        is_in_row = self._rows.is_in_literal(data) if self._doubtful else None
        if is_in_row is None:
            return
        for program in self._doubtful if is_in_row else ():
            self.begun[program] -= 1
            self.open_now[program.last] = max(0, self.open_now[program.last] - 1)
        self._doubtful.clear()


def _find_starts_and_ends(window: bytes, overlap: int) -> list[tuple[re.Match[bytes], Program | str]]:
    """Return in order what is new in the window: starts with their programs, and ends with their last lines."""
    if not any(literal in window for literal in LITERALS):
        return []
    found: list[tuple[re.Match[bytes], Program | str]] = []
    for program in PROGRAMS:
        found += [(match, program) for match in program.start.finditer(window)]
    for last, pattern in _LAST_LINES.items():
        found += [(match, last) for match in pattern.finditer(window)]
    return sorted((one for one in found if one[0].end() > overlap), key=lambda one: one[0].end())
