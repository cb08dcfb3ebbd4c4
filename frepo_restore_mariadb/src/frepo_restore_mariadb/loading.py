"""Loads a dump into a throw-away server, and judges what the client says."""

import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from frepo_core.plugins import NotDecided, NotRestored, RestoreSource

from .load_errors import judge_errors
from .server import DATABASE, SYSTEM, Server, quoted, started_server

PIECE = 1 << 18
HEAD, TAIL = 4096, 512
# How a dump begins, and what its last lines have then: with comments, and with --skip-comments.
_FORMS = (
    (re.compile(rb"^-- (?:MariaDB|MySQL) dump ", re.MULTILINE), b"\n-- Dump completed"),
    (re.compile(rb"^/\*!40101 SET @OLD_CHARACTER_SET_CLIENT=", re.MULTILINE), b" SET SQL_NOTES=@OLD_SQL_NOTES "),
)
_DATABASE = re.compile(rb"^(?:CREATE DATABASE |USE )[^`\n]{0,80}`((?:[^`\n]|``){1,256})`", re.MULTILINE)
MAX_ERRORS = 1 << 20
BATCH = 200
_TABLES = f"""
SELECT CONCAT(table_schema, '\\t', table_name) FROM information_schema.tables
WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ({", ".join(f"'{name}'" for name in sorted(SYSTEM))})
ORDER BY 1
"""


class _Copy:
    def __init__(self, server: Server, note: str, database: str) -> None:
        self._server = server
        self._database = database
        self.note = note

    def ask(self, question: str) -> object:
        lines = self._server.ask(question, self._database)
        answer = lines[0].partition("\t")[0] if lines else "NULL"
        return None if answer == "NULL" else answer

    def tables(self) -> Mapping[str, bool]:
        names = [line.split("\t", 1) for line in self._server.ask(_TABLES, self._database)]
        found: dict[str, bool] = {}
        for start in range(0, len(names), BATCH):
            some = names[start : start + BATCH]
            query = " UNION ALL ".join(
                f"SELECT {number}, EXISTS (SELECT 1 FROM {quoted(database)}.{quoted(table)})"
                for number, (database, table) in enumerate(some)
            )
            answers = (line.split("\t") for line in self._server.ask(query, self._database))
            found |= {_name(*some[int(number)]): is_filled == "1" for number, is_filled in answers}
        return found


@contextmanager
def restore_dump(source: RestoreSource) -> Iterator[_Copy]:
    """Load what `mariadb-dump` has written, as a user who has rights on the databases of the dump only.

    Raises `NotRestored` and `NotDecided`.
    """
    head = _read_head(source)
    end = next((end for begin, end in _FORMS if begin.search(head)), None)
    if end is None:
        raise NotDecided("this is nothing that mariadb-dump writes without --compact")
    with started_server(source.version, source.folder) as server:
        loading = _Loading(server, source)
        note = loading.load(head, end)
        named = loading.databases
        yield _Copy(server, note, next(iter(named)) if len(named) == 1 else DATABASE)


class _Loading:
    """Loads one dump. `databases` are those that it names."""

    def __init__(self, server: Server, source: RestoreSource) -> None:
        self._server = server
        self._source = source
        self.databases: set[str] = set()

    def load(self, head: bytes, end: bytes) -> str:
        """Return what was left out. Raises `NotRestored` and `NotDecided`."""
        errors = self._source.folder / "errors"
        status, is_read, tail = self._feed(head, errors)
        with errors.open("rb") as file:
            text = file.read(MAX_ERRORS).decode(errors="replace")
        note = judge_errors(text, self._source.version)
        if end not in tail:
            raise NotRestored("the dump ends before its last line")
        if not is_read:
            raise NotDecided("the client has ended before the dump did")
        if status not in {0, 1} or (status and not note):
            raise NotDecided(f"the client ended with exit status {status}, and named no error")
        return note

    def _feed(self, head: bytes, errors: Path) -> tuple[int, bool, bytes]:
        """Write the content to the client. Return its status, whether it has read all, and the end of the content."""
        # In binary mode the client has no commands but DELIMITER, so that `\!` and `source` are errors of the server.
        command = self._server.command("--force", "--binary-mode", "--loose-sandbox", DATABASE)
        with errors.open("wb") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log, cwd=self._source.folder
            )
        assert process.stdin is not None
        data, tail, is_read = head, b"", True
        try:
            while data:
                self._allow(tail + data)
                tail = (tail + data)[-TAIL:]
                if is_read:
                    try:
                        process.stdin.write(data)
                    except BrokenPipeError:
                        is_read = False
                data = self._source.content.read(PIECE)
            try:
                process.stdin.close()
            except BrokenPipeError:
                is_read = False
            return process.wait(), is_read, tail
        finally:
            process.kill()
            process.wait()

    def _allow(self, data: bytes) -> None:
        """Give the user the databases that are named here. Raises `NotDecided` for those of the server."""
        for name in _DATABASE.findall(data):
            database = name.decode(errors="replace").replace("``", "`")
            if database.lower() in SYSTEM:
                raise NotDecided(f"the dump has the database {database} of the server: make it with --databases")
            if database not in self.databases:
                self.databases.add(database)
                self._server.allow(database)


def _read_head(source: RestoreSource) -> bytes:
    head = b""
    while len(head) < HEAD:
        data = source.content.read(HEAD - len(head))
        if not data:
            break
        head += data
    return head


def _name(database: str, table: str) -> str:
    return table if database == DATABASE else f"{database}.{table}"
