"""Splits a dump in SQL into its statements as the clients of databases do, in one pass and in bounded memory."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from frepo_core.plugins import NotListable

from .sql_dialects import Dialect, RowCheck

CHUNK = 256 << 10
# What is kept of the text of a statement. Rows are longer, but no definition is.
KEPT = 1 << 20
# Tags of dollar quotes, openings of comments and delimiters are shorter.
_AHEAD = 256
_TAIL = 64
_LINE_END = re.compile(rb"\n")
_COMMENT_EDGE = re.compile(rb"/\*|\*/")
_DOLLAR = re.compile(rb"\$(?:[A-Za-z_\x80-\xff][\w\x80-\xff]*)?\$")
_DELIMITER = re.compile(rb"DELIMITER[ \t]+(\S{1,15})[ \t]*\r?\n", re.IGNORECASE)
_SANDBOX = re.compile(rb"/\*M?!999999\\- enable the sandbox mode \*/[ \t]*\r?\n")
_SPACE = re.compile(rb"\s*")
_WORD_END = re.compile(rb"[\w$\x80-\xff]\Z")
_COPY = re.compile(rb"COPY .* FROM stdin;\Z", re.DOTALL)
_COPY_END = re.compile(rb"\n\\\.\r?(?:\n|\Z)")


@dataclass(kw_only=True)
class Statement:
    """A statement: its place in the dump from `start`, where its comments begin, to `end`, and the start of its text.

    `text` has neither comments nor white space around it. `rows` are those behind COPY, which belong to it, or those of
    INSERT. `has_command`: a command of the client is in it.
    """

    start: int
    end: int = 0
    text: bytes = b""
    rows: int = 0
    has_command: bool = False
    pieces: list[bytes] = field(default_factory=list, repr=False)
    kept: int = 0

    def keep(self, piece: bytes) -> None:
        """Add to the text, unless it is long enough."""
        if self.kept < KEPT:
            self.pieces.append(piece[: KEPT - self.kept])
            self.kept += len(piece)


class Scanner:
    """Reads the statements of a dump."""

    def __init__(
        self,
        read: Callable[[int], bytes],
        dialect: Dialect,
        *,
        is_complete: Callable[[bytes], bool] = lambda text: True,
        count_rows: Callable[[bytes], int] = lambda piece: 0,
    ) -> None:
        """`is_complete` says whether a text that ends with a semicolon is a whole statement."""
        self._read, self._dialect = read, dialect
        self._is_complete, self._count_rows = is_complete, count_rows
        self._buffer, self._base, self._at, self._is_end = b"", 0, 0, False
        self._delimiter = b";"

    def statements(self) -> Iterator[Statement]:
        """Yield the statements and the commands of the client, which stand alone. Raises `NotListable` at a cut end."""
        while True:
            statement = Statement(start=self._base + self._at)
            if not self._scan(statement):
                return
            statement.text = b"".join(statement.pieces).strip()
            statement.pieces = []
            if self._dialect.is_postgresql and _COPY.match(statement.text):
                self._read_rows(statement)
            statement.end = self._base + self._at
            yield statement

    def _fill(self) -> bool:
        """Drop what was read, but one byte, and read more. Return whether there was more."""
        data = b"" if self._is_end else self._read(CHUNK)
        self._is_end = not data
        done = max(0, self._at - 1)
        self._base += done
        self._buffer, self._at = self._buffer[done:] + data, self._at - done
        return bool(data)

    def _scan(self, statement: Statement) -> bool:
        """Read to the end of a statement. Return False at the end of the dump."""
        has_begun = False
        while True:
            while len(self._buffer) - self._at < _AHEAD and not self._is_end:
                self._fill()
            if not has_begun and not self._begin(statement):
                if self._at < len(self._buffer) or not self._is_end:
                    if statement.pieces:
                        return True
                    continue
                return False
            before, is_all = self._at, self._take_run(statement)
            has_begun = has_begun or self._at > before
            if is_all:
                if not self._fill() and self._at == len(self._buffer) and has_begun:
                    raise NotListable("It ends within a statement, so it was cut off")
                continue
            if len(self._buffer) - self._at < _AHEAD and not self._is_end:
                continue  # look at the next character with enough behind it
            if self._skips_comment():
                continue
            if self._buffer.startswith(self._delimiter, self._at):
                if self._ends(statement):
                    return True
            elif self._step(statement, has_begun):
                return True
            has_begun = True

    def _begin(self, statement: Statement) -> bool:
        """Read over white space, and what stands before statements. Return whether a statement may begin here."""
        self._at = _SPACE.match(self._buffer, self._at).end()  # type: ignore[union-attr]  # it matches nothing, too
        if len(self._buffer) - self._at < _AHEAD and not self._is_end:
            return False
        if self._dialect.is_mysql and (found := _SANDBOX.match(self._buffer, self._at)):
            statement.keep(found[0])
            self._at = found.end()
            return False
        if self._dialect.is_mysql and (found := _DELIMITER.match(self._buffer, self._at)):
            self._delimiter, self._at = found[1], found.end()
            if self._delimiter[:1] != b";":
                raise NotListable("It has a delimiter that no program writes")
            return False
        return self._at < len(self._buffer)

    def _take_run(self, statement: Statement) -> bool:
        """Read what cannot end the statement. Return whether that was all there is in the buffer."""
        start, buffer = self._at, self._buffer
        end = self._dialect.run.match(buffer, start).end()  # type: ignore[union-attr]  # it matches nothing, too
        is_all = end == len(buffer)
        if is_all and not self._is_end:  # what follows may belong to the end: E'...', and two brackets between rows
            tail = buffer[max(start, end - _TAIL) :]
            end -= len(tail) - len(tail.rstrip(b"eE),\r\n\t "))
        if end > start:
            statement.keep(buffer[start:end])
            if statement.pieces[0][:6] in {b"INSERT", b"REPLAC"}:
                statement.rows += self._count_rows(buffer[start:end])
        self._at = end
        return is_all

    def _skips_comment(self) -> bool:
        two = self._buffer[self._at : self._at + 3]
        is_line = two[:1] == b"#" or (two[:2] == b"--" and (not self._dialect.is_mysql or two[2:].isspace()))
        if is_line:
            self._skip_line()
        elif two[:2] == b"/*" and not (self._dialect.is_mysql and two[2:] in {b"!", b"M"}):
            self._skip_comment()
        else:
            return False
        return True

    def _skip_line(self) -> None:
        while not (found := _LINE_END.search(self._buffer, self._at)):
            self._at = len(self._buffer)
            if not self._fill():
                return
        self._at = found.end()

    def _skip_comment(self) -> None:
        """Read over a comment. In PostgreSQL, one may be within another."""
        depth = 0
        while True:
            found = _COMMENT_EDGE.search(self._buffer, self._at)
            if not found:
                self._at = max(self._at, len(self._buffer) - 1)
                if not self._fill():
                    raise NotListable("It ends within a comment, so it was cut off")
                continue
            self._at = found.end()
            depth = depth - 1 if found[0] == b"*/" else depth + 1 if self._dialect.is_postgresql else 1
            if depth <= 0:
                return

    def _ends(self, statement: Statement) -> bool:
        self._at += len(self._delimiter)
        statement.keep(self._delimiter)
        return statement.kept >= KEPT or self._is_complete(b"".join(statement.pieces))

    def _step(self, statement: Statement, has_begun: bool) -> bool:
        """Read what begins with a special character. Return whether the statement ended."""
        one, two = self._buffer[self._at : self._at + 1], self._buffer[self._at + 1 : self._at + 2]
        before = self._buffer[max(0, self._at - 1) : self._at]
        if one == b"\\" and self._dialect.has_commands:
            line = self._take_line()
            statement.has_command |= has_begun
            if not has_begun:
                statement.keep(line)
            return not has_begun
        if one in {b"e", b"E"} and two == b"'":
            statement.keep(one)
            self._at += 1
            self._take_string(statement, b"'", has_escapes=True)
        elif one in {b"'", b'"', b"`", b"["}:
            self._take_string(
                statement, b"]" if one == b"[" else one, has_escapes=self._dialect.backslash and one != b"`"
            )
        elif one == b"$" and not _WORD_END.search(before) and (tag := _DOLLAR.match(self._buffer, self._at)):
            statement.keep(tag[0])
            self._at = tag.end()
            self._take_past(statement, tag[0])
        else:
            statement.keep(one)
            self._at += 1
        return False

    def _take_line(self) -> bytes:
        while (end := self._buffer.find(b"\n", self._at)) < 0 and self._fill():
            if len(self._buffer) > 2 * KEPT:
                raise NotListable("It has a command of the client that is longer than 1 MiB")
        end = len(self._buffer) if end < 0 else end + 1
        line, self._at = self._buffer[self._at : end], end
        return line

    def _take_string(self, statement: Statement, quote: bytes, *, has_escapes: bool) -> None:
        """Read a string or a quoted name: one that is not whole in the buffer, or has escapes."""
        statement.keep(self._buffer[self._at : self._at + 1])
        self._at += 1
        inside = re.compile(rb"[^%b\\]*(?:\\.[^%b\\]*)*" % (quote, quote), re.DOTALL)
        while True:
            start = self._at
            if has_escapes:
                self._at = inside.match(self._buffer, start).end()  # type: ignore[union-attr]
            else:
                found = self._buffer.find(quote, start)
                self._at = len(self._buffer) if found < 0 else found
            statement.keep(self._buffer[start : self._at])
            if self._buffer.startswith(quote, self._at):
                self._at += 1
                statement.keep(quote)
                return
            if not self._fill():
                raise NotListable("It ends within a string, so it was cut off")

    def _take_past(self, statement: Statement, end: bytes) -> None:
        while (found := self._buffer.find(end, self._at)) < 0:
            reached = max(self._at, len(self._buffer) - len(end))
            statement.keep(self._buffer[self._at : reached])
            self._at = reached
            if not self._fill():
                raise NotListable("It ends within a quoted text, so it was cut off")
        statement.keep(self._buffer[self._at : found + len(end)])
        self._at = found + len(end)

    def _read_rows(self, statement: Statement) -> None:
        """Read the rows behind COPY, to the line with a backslash and a point."""
        check = RowCheck()
        statement.has_command |= bool(self._take_line().strip())
        self._at -= 1  # the line end before the first row
        while not (found := _COPY_END.search(self._buffer, self._at)) or (
            found.end() == len(self._buffer) and not self._is_end
        ):
            end = self._buffer.rfind(b"\n", self._at)
            end = self._buffer.rfind(b"\n", self._at, end) if end > self._at else end
            if end > self._at:
                check.add(self._buffer[self._at : end])
                self._at = end  # the line end may be that before the last line
            if not self._fill() and not _COPY_END.search(self._buffer, self._at):
                raise NotListable("It ends within the rows of a table, so it was cut off")
        check.add(self._buffer[self._at : found.start()])
        self._at = found.end()
        statement.rows = check.rows
        statement.has_command |= check.is_odd
