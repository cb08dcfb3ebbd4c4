"""How the clients of databases read statements, and what they take for commands of their own."""

import re
from dataclasses import dataclass

# What no program that writes rows puts behind a backslash, and psql may take for a command of its own.
_ODD_ESCAPE = re.compile(rb"\\[^bfnrtvN]")


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How the client of a database reads.

    `run` matches what cannot end a statement, whole strings included, and `backslash` says whether a backslash quotes
    in strings. `has_commands`: a backslash outside of them begins a command of the client.
    """

    run: re.Pattern[bytes]
    backslash: bool = False
    has_commands: bool = True
    is_postgresql: bool = False
    is_mysql: bool = False


_STANDARD, _ESCAPED = rb"'[^']*'", rb"'[^'\\]*(?:\\.[^'\\]*)*'"
POSTGRESQL = Dialect(
    run=re.compile(rb"(?:[^'\";\\/$\-Ee]+|(?<=[\w$\x80-\xff])[Ee]|[Ee](?!')|" + _STANDARD + rb'|"[^"]*")*'),
    is_postgresql=True,
)
MYSQL = Dialect(
    run=re.compile(
        rb"(?:[^'\"`;\\/#\-]+|" + _ESCAPED + rb"|" + _ESCAPED.replace(b"'", b'"') + rb"|`[^`]*`)*", re.DOTALL
    ),
    backslash=True,
    is_mysql=True,
)
SQLITE = Dialect(
    run=re.compile(rb"(?:[^'\"`\[;/\-]+|" + _STANDARD + rb'|"[^"]*"|`[^`]*`|\[[^\]]*\])*'), has_commands=False
)


class RowCheck:
    """Counts rows of COPY, and looks for what psql would take for a command if the statement before them failed."""

    def __init__(self) -> None:
        self.rows = 0
        self.is_odd = False

    def add(self, lines: bytes) -> None:
        """Add whole lines: each begins with its line end, and the last one has none behind it."""
        self.rows += lines.count(b"\n")
        self.is_odd = self.is_odd or _ODD_ESCAPE.search(lines.replace(b"\\\\", b"")) is not None
