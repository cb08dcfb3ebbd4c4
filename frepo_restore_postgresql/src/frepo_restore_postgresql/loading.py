"""Loads a dump into a throw-away server, and judges what psql or pg_restore say."""

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from frepo_core.plugins import NotDecided, NotRestored, RestoreSource

from .load_errors import judge_errors
from .server import Server, started_server

PIECE = 1 << 18
HEAD, TAIL = 4096, 512
_ARCHIVES = (b"PGDMP", b"toc.dat\x00")
_DUMP = b"PostgreSQL database dump"
_ENDS = (b"PostgreSQL database dump complete", b"PostgreSQL database cluster dump complete")
MAX_ERRORS = 1 << 20
BATCH = 200
_TABLES = """
SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
ORDER BY 1
"""


class _Copy:
    def __init__(self, server: Server, note: str) -> None:
        self._server = server
        self.note = note

    def ask(self, question: str) -> object:
        lines = self._server.ask(question)
        return lines[0] if lines else None

    def tables(self) -> Mapping[str, bool]:
        names = self._server.ask(_TABLES)
        found: dict[str, bool] = {}
        for start in range(0, len(names), BATCH):
            some = names[start : start + BATCH]
            query = " UNION ALL ".join(
                f"SELECT {number}, EXISTS (SELECT FROM {name})" for number, name in enumerate(some)
            )
            answers = (line.split("|") for line in self._server.ask(query))
            found |= {some[int(number)]: is_filled == "t" for number, is_filled in answers}
        return found


@contextmanager
def restore_dump(source: RestoreSource) -> Iterator[_Copy]:
    """Load what `pg_dump` has written, in SQL or as an archive, as a user that is no superuser.

    Raises `NotRestored` and `NotDecided`.
    """
    head = _read_head(source)
    is_archive = head.startswith(_ARCHIVES)
    if not is_archive and _DUMP not in head:
        raise NotDecided("this is nothing that pg_dump writes")
    with started_server(source.version, source.folder) as server:
        note = _load(server, source, head, is_archive=is_archive)
        yield _Copy(server, note)


def _read_head(source: RestoreSource) -> bytes:
    head = b""
    while len(head) < HEAD:
        data = source.content.read(HEAD - len(head))
        if not data:
            break
        head += data
    return head


def _load(server: Server, source: RestoreSource, head: bytes, *, is_archive: bool) -> str:
    """Return what was left out. Raises `NotRestored` and `NotDecided`."""
    errors = source.folder / "errors"
    if is_archive:
        command = server.command("pg_restore", "--no-owner", "--no-privileges")
    else:
        command = server.command("psql", "-X", "-q", "-b", "-v", "ON_ERROR_STOP=0", "-f", "-")
    status, is_read, tail = _feed(command, source, head, errors)
    with errors.open("rb") as file:
        text = file.read(MAX_ERRORS).decode(errors="replace")
    note = judge_errors(text, source.version)
    if not is_archive and not any(end in tail for end in _ENDS):
        raise NotRestored("the dump ends before its last line")
    if not is_read:
        raise NotDecided("psql has ended before the dump did")
    if status > 1 or status < 0:
        raise NotDecided(f"{Path(command[0]).name} ended with exit status {status}, and named no error")
    return note


def _feed(command: list[str], source: RestoreSource, head: bytes, errors: Path) -> tuple[int, bool, bytes]:
    """Write the content to a program. Return its status, whether it has read all, and the end of the content."""
    with errors.open("wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log, cwd=source.folder
        )
    assert process.stdin is not None
    data, tail, is_read = head, b"", True
    try:
        while data:
            tail = (tail + data)[-TAIL:]
            if is_read:
                try:
                    process.stdin.write(data)
                except BrokenPipeError:
                    is_read = False
            data = source.content.read(PIECE)
        try:
            process.stdin.close()
        except BrokenPipeError:
            is_read = False
        return process.wait(), is_read, tail
    finally:
        process.kill()
        process.wait()
