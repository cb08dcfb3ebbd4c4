"""Recognizes dumps in SQL by their first lines, and whole ones by the last line that their program writes.

Several dumps may follow each other, as in `(pg_dumpall --globals-only; pg_dump shop)`: each has to have its own end.
"""

import re

from ..budget import Budget
from ..byte_stream import ByteStream
from ..outcomes import BrokenContent
from .sql_programs import COMPLETED, PROGRAMS, WITHOUT_COMMENTS, Program
from .sql_sequence import Dumps

# A dump's first comment is in its first lines, and its last comment in its last lines, unless somebody added
# statements, such as the grants of users.
HEAD = 4096
TAIL = 256 << 10

# What may come before a dump's first line: comments, statements that somebody added, warnings of the program, and those
# of ssh, shells, kubectl and containers.
_BEFORE = re.compile(
    rb"\s*|\s*(?:--|#|/\*|\\).*|.*;\s*|[a-z_-]*dump(?:all)?(?:\.exe)?: .*"
    rb"|(?:[\w./-]+: )?(?i:warning): .*|Defaulted container .*|Unable to use a TTY .*|Emulate Docker CLI using podman.*"
    rb"|time=\S+ level=warning .*|(?:stdin|stty|mesg|tput): .*"
    rb"|bash: (?:cannot set terminal process group|no job control).*"
)
# Each pattern reads all first bytes of a content that is no dump, so they are looked for together.
_FIRST_LINES = re.compile(b"|".join(program.first_line.pattern for program in PROGRAMS), re.MULTILINE)
_NO_TABLES = re.compile(rb"\s*PRAGMA foreign_keys=OFF;\s*BEGIN TRANSACTION;\s*COMMIT;\s*")


def recognize(head: bytes) -> Program | None:
    """Return the program that wrote a content with these first bytes, or None."""
    if not _FIRST_LINES.search(head[:HEAD]):
        return None
    for program in PROGRAMS:
        match = program.first_line.search(head[:HEAD])
        if match and all(_BEFORE.fullmatch(line) for line in head[: match.start()].splitlines()):
            return program
    return None


def recognize_behind_text(head: bytes) -> Program | None:
    """Return the program whose dump begins in a later line of these first bytes, behind other text, or None.

    The text may be the greeting of a host, and the whole one a text about dumps.
    """
    starts = [(match.start(), one) for one in PROGRAMS for match in one.start.finditer(head[:HEAD])]
    lines = [(start, one) for start, one in starts if head[start - 1 : start] == b"\n" and b"\0" not in head[:start]]
    return min(lines, key=lambda found: found[0], default=(0, None))[1]


def text_in_front(head: bytes, program: Program) -> bytes:
    """Return what is in front of the first dump of a program in these first bytes."""
    match = program.start.search(head[:HEAD])
    return head[: match.start()] if match else b""


def read_database(head: bytes, program: Program) -> str:
    """Return the name of the database that the first 4,096 bytes give; empty if they give none."""
    match = program.database.search(head[:HEAD])
    name = match[1].strip() if match else b""
    if name.startswith(b'"'):
        name = name[1:-1].replace(b'""', b'"')
    return name.decode("utf-8", "replace")


def is_without_tables(head: bytes) -> bool:
    """Whether a content with these first bytes is what sqlite3 dumps of a database that it has just made itself."""
    return bool(_NO_TABLES.fullmatch(head))


def check_sql(source: ByteStream, program: Program, budget: Budget) -> tuple[int, bytes]:
    """Read to the end, and check that each dump in it has its end.

    Return how many there are, and what follows the last line of the last one. Raises `BrokenContent`.
    """
    dumps = Dumps()
    tail = bytearray()  # pieces may be tiny, and it is not copied for each
    while data := source.take():
        budget.spend()
        dumps.read(data)
        tail += data
        if len(tail) > 2 * TAIL:
            del tail[:-TAIL]
    rest = check_tail(bytes(tail[-TAIL:]), program, *(one for one in PROGRAMS if dumps.begun[one]))
    cut = next((one for one in PROGRAMS if dumps.begun[one] and dumps.open_now[one.last]), None)
    if cut and (dumps.begun.total() > 1 or dumps.has_resumed):
        raise _broken(f"One of the {dumps.begun.total()} dumps in it" if dumps.begun.total() > 1 else "The dump", cut)
    if dumps.failure:
        raise BrokenContent("sql", f"Between two dumps is a message: {dumps.failure}", verdict="suspicious")
    if dumps.skipped:
        raise BrokenContent("sql", f"Within the dump is a message: {dumps.skipped}", verdict="suspicious")
    return dumps.begun.total(), rest


def check_tail(tail: bytes, program: Program, *others: Program) -> bytes:
    """Check that the last 256 KiB have the last line of the program, or of one that wrote another dump behind its own.

    Return the lines that follow it. Raises `BrokenContent`.
    """
    programs = [program, *others]
    if any(one.last == COMPLETED for one in programs):  # people filter this comment, which has the time
        programs += [one for one in PROGRAMS if one.name == WITHOUT_COMMENTS]
    ends = [match.end() for one in programs for match in one.last_line.finditer(tail)]
    if not ends and program.failed.search(tail):
        message = f"{program.name} has met errors, so its dump ends with `ROLLBACK`: what it could not read is missing"
        raise BrokenContent("sql", message)
    if not ends:
        raise _broken("The dump", program)
    return tail[max(ends) :].partition(b"\n")[2]


def _broken(what: str, program: Program) -> BrokenContent:
    message = f"{what} ends too early: the line `{program.last}`, which {program.name} writes last, is missing"
    return BrokenContent("sql", message)
