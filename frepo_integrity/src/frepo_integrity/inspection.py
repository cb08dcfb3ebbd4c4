"""Checks a whole content: recognizes its format, unpacks it completely, and checks what it contains likewise."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from . import detection, messages, split_parts, text_encoding
from .budget import Budget
from .byte_stream import ByteStream, FileStream
from .formats import sql_dump, tar_archive, zip_directory
from .formats.codecs import CODECS, MEMORY
from .formats.compressed import decompress
from .formats.encrypted import openssl
from .formats.format import Format
from .formats.single_pass import DUMPS, FORMATS
from .formats.sql_programs import Program
from .outcomes import (
    BoundReached,
    BrokenContent,
    EmptyContent,
    LittleContent,
    NotCheckable,
    OutOfMemory,
    Report,
    switched_off,
)
from .tar_inspection import inspect_tar
from .zip_inspection import inspect_zip

# db.sql.xz.gz has two. More compressions within each other come from a bomb.
MAX_DEPTH = 4


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """What all steps of one check share. `is_on` says whether a kind is checked at all.

    `memory` is for the windows of decompressors, in bytes: for the outermost one, half of it for the one inside, and so
    on. A check with less than the default ends with `OutOfMemory` where it does not suffice.
    """

    budget: Budget
    is_on: Callable[[str], bool] = lambda kind: True
    memory: int = MEMORY

    def check_memory(self, reason: NotCheckable) -> None:
        """Raise `OutOfMemory` if another check, which may use more memory, can do what this one cannot."""
        if reason.needs_memory and self.memory < MEMORY:
            raise OutOfMemory() from reason


def inspect(file: BinaryIO, size: int, name: str, inspection: Inspection) -> Report:
    """Check a seekable content of `size` bytes to its end; return a report that is good or not checked.

    `name` is the file's name: it helps only where the content is too short to be recognized.

    Raises `BrokenContent`, `OutOfTime` if the budget has a time limit, and `OutOfMemory`.
    """
    source = FileStream(file, size)
    head = source.peek(detection.HEAD)
    found = detection.detect(head)
    try:
        if found is not None and found.kind == "zip" and inspection.is_on("zip"):
            return inspect_zip(
                *(file, size, name, inspection.budget, inspection.memory),
                lambda member, inside: _inspect(member, inside, inspection, depth=1),
                inspection.is_on,
            )
        return _inspect(source, name, inspection, depth=0)
    except BrokenContent as broken:
        return split_parts.excuse(broken, name, head)
    except NotCheckable as reason:
        inspection.check_memory(reason)
        return _not_checked(reason, found)
    except BoundReached as reason:
        return _not_checked(reason, found)


def _not_checked(reason: Exception, found: detection.Detected | None) -> Report:
    return Report(outcome="not checked", message=_sentence(reason), kinds=(found.kind,) if found else ())


def _inspect(source: ByteStream, name: str, inspection: Inspection, depth: int) -> Report:
    if encoding := text_encoding.find_encoding(source.peek(detection.HEAD)):
        return _inspect_text(text_encoding.decode(source, encoding, inspection.budget), name, inspection, depth)
    return _inspect_plain(source, name, inspection, depth)


def _inspect_plain(source: ByteStream, name: str, inspection: Inspection, depth: int) -> Report:
    head = source.peek(detection.HEAD)
    found = detection.detect(head)
    if found is None:
        return _unknown(source, name, inspection, depth)
    kind = found.kind
    if not inspection.is_on(kind):
        return switched_off(kind, (kind,))
    if kind in CODECS and depth < MAX_DEPTH:
        try:
            return _inspect_compressed(source, kind, name, inspection, depth).inside(kind)
        except BrokenContent as broken:
            raise (broken if broken.kind == kind else broken.inside(kind)) from broken
    if kind == "tar":
        return inspect_tar(
            source,
            inspection.budget,
            lambda member, inside: _inspect(member, inside, inspection, depth + 1),
            inspection.is_on,
        )
    if kind in FORMATS:
        return _inspect_single_pass(source, head, FORMATS[kind], name, inspection.budget)
    if found.program:
        return _inspect_sql(source, head, found.program, inspection.budget)
    if kind == "zip":
        return Report(outcome="good", message=zip_directory.check_stream(source, inspection.budget), kinds=("zip",))
    message = f"{kind} inside a compression cannot be checked"
    return Report(outcome="not checked", message=message, kinds=(kind,))


def _inspect_text(source: ByteStream, name: str, inspection: Inspection, depth: int) -> Report:
    """Inspect what begins with the mark of an encoding. Other contents than text are destroyed if they have one."""
    head = source.peek(detection.HEAD)
    found = detection.detect(head)
    kind = found.kind if found else detection.kind_of_name(name)
    is_destroyed = kind and head and not detection.is_text(kind) and not messages.recognize(head)
    if kind and is_destroyed and inspection.is_on(kind):
        message = f"It was written as text, as `>` of PowerShell does, so it is no {kind} data any more"
        raise BrokenContent(kind, message, (messages.TEXT,), verdict="suspicious")
    return _inspect_plain(source, name, inspection, depth)


def _inspect_single_pass(source: ByteStream, head: bytes, form: Format, name: str, budget: Budget) -> Report:
    about: dict[str, Any] = {"kinds": (form.kind,), "label": form.label, "database": form.database(head)}
    try:
        return Report(outcome="good", message=form.check(source, budget), covers=form.covers, **about)
    except NotCheckable as reason:
        return Report(outcome="not checked", message=_sentence(reason), **about)
    except LittleContent as little:
        if _is_meant(little, name):
            raise
        return Report(outcome=little.outcome, message=little.otherwise, covers=form.covers, **about)


def _is_meant(broken: BrokenContent, name: str) -> bool:
    """Whether a finding about an encrypted content of this name counts: a password is next to nothing, too."""
    return not isinstance(broken, LittleContent) or detection.encrypts_backup(name)


def _inspect_sql(source: ByteStream, head: bytes, program: Program, budget: Budget) -> Report:
    dumps, rest = sql_dump.check_sql(source, program, budget)
    check_in_front_of_dump(head, program)
    check_behind_dump(rest)
    if sql_dump.is_without_tables(head):
        message = "The dump has no tables: sqlite3 makes an empty database where there is none"
        raise BrokenContent("sql", message, verdict="suspicious")
    return Report(
        outcome="good",
        message=f"The dump of {program.name} is whole",
        kinds=("sql",),
        covers="content",
        label=program.label,
        # Of several databases, another one may come first tomorrow.
        database=sql_dump.read_database(head, program) if dumps <= 1 else "",
    )


def check_in_front_of_dump(head: bytes, program: Program) -> None:
    """Raise `BrokenContent` if a whole dump follows the message of another one that failed."""
    if line := messages.find_fatal(sql_dump.text_in_front(head, program)):
        raise BrokenContent("sql", f"In front of the dump is a message: {line}", verdict="suspicious")


def check_behind_dump(rest: bytes) -> None:
    """Raise `BrokenContent` if a message follows a whole dump: that of another one that failed."""
    if line := messages.find_error(rest):
        raise BrokenContent("sql", f"Behind the dump is a message: {line}", verdict="suspicious")


def _inspect_behind_text(source: ByteStream, program: Program, inspection: Inspection) -> Report:
    """Inspect a dump that other text precedes. A cut one is not condemned, as it may be a text about dumps."""
    head = source.peek(detection.HEAD)
    try:
        report = _inspect_sql(source, head, program, inspection.budget)
    except BrokenContent as broken:
        check_in_front_of_dump(head, program)
        return Report(outcome="not checked", message=f"It does not begin like a dump. {broken.message}")
    more = ". In front of it is other text, which a restore may refuse: remove it"
    return replace(report, message=report.message + more)


def _check_in_front(head: bytes, promised: str | None) -> None:
    """Raise `BrokenContent` if a message is in front of data, which no program can read then.

    Any text is one if what follows is what the name promises, or a dump. Other formats begin with text, too.
    """
    for failure, first, rest in messages.split_text(head):
        if failure and rest and not rest.strip(b"\0"):  # the end of a tar archive without members
            raise BrokenContent(
                "tar", f"A message is in front of zeros: {failure}", (messages.TEXT,), verdict="suspicious"
            )
        found = detection.detect(rest)
        if found and not detection.is_text(found.kind) and (failure or found.kind in {promised, *DUMPS}):
            what = "A message" if failure else "Text"
            message = f"{what} is in front of the {found.kind} data, which no program can read then: {failure or first}"
            raise BrokenContent(found.kind, message, (messages.TEXT,), verdict="suspicious")


def _inspect_compressed(source: ByteStream, kind: str, name: str, inspection: Inspection, depth: int) -> Report:
    # Half of the memory for each compression inside: all windows together stay below twice the memory.
    inside = ByteStream(decompress(source, CODECS[kind], inspection.budget, inspection.memory >> depth))
    try:
        report = _inspect(inside, detection.inner_name(name), inspection, depth + 1)
    except NotCheckable as reason:
        inspection.check_memory(reason)
        if reason.source is source:
            raise
        report = Report(outcome="not checked", message=_sentence(reason))
    except BrokenContent as broken:
        if broken.verdict == "suspicious":
            inside.drain()  # a cut container is broken, whatever is in it
        raise
    inside.drain()  # the checksum of the container is at its end
    if not inside.offset:
        raise EmptyContent(kind, f"The {kind} data is whole, but there is nothing in it")
    if report.outcome == "good":
        return report
    message = (
        f"The {kind} data is whole. What is in it was not checked: {report.message[0].lower()}{report.message[1:]}"
    )
    return replace(report, outcome="good", message=message, covers="container")


def _unknown(source: ByteStream, name: str, inspection: Inspection, depth: int) -> Report:
    """Return a report about a content of unknown format.

    Raises `BrokenContent` if it is the start of a known one, or an error message where a backup should be.
    """
    head = source.peek(detection.HEAD)
    promised = detection.kind_of_name(name)
    if promised and not inspection.is_on(promised):
        return switched_off(promised)
    if promised and not head:
        raise EmptyContent(promised, f"There is nothing in {name}" if depth else "The content is empty")
    kind = messages.recognize(head)
    if (wrong := openssl.find_nothing(source.peek(openssl.HEAD))) and _is_meant(wrong, name):
        raise wrong
    if promised and not kind and detection.is_cut_start(head, promised):
        raise BrokenContent(promised, f"The {promised} data ends too early, after {len(head)} bytes")
    start = source.peek(tar_archive.RECORD + 1)
    if (promised == "tar" or depth) and inspection.is_on("tar") and tar_archive.is_empty_tar(start):
        raise BrokenContent("tar", tar_archive.NOTHING)
    kind = kind or (messages.TEXT if _is_repeated(source, head, inspection.budget) else None)
    if kind and detection.promises_backup(name, is_packed=depth > 0):
        raise BrokenContent(promised or kind, messages.describe(head, kind), (kind,), verdict="suspicious")
    if detection.promises_backup(name, is_packed=depth > 0):
        _check_in_front(head, promised)
    program = None if kind else sql_dump.recognize_behind_text(head)
    if program and inspection.is_on("sql"):
        return _inspect_behind_text(source, program, inspection)
    if promised and depth == 0:
        article = "an" if promised[0] in "aeiox" else "a"
        message = f"Its name is that of {article} {promised} file, but its first bytes are not those of one"
        return Report(outcome="not checked", message=message, look=messages.look_at(head))
    return of_no_format(head, name, kind)


def of_no_format(head: bytes, name: str, kind: str | None = None) -> Report:
    """Return the report about a content of unknown format; `kind` is `html` or `text` for a page or a message."""
    if detection.keeps_messages(name):
        kind, look = None, ""
    else:
        look = "" if kind else messages.look_at(head)
    return Report(outcome="not checked", message="Its format is not known", kinds=(kind,) if kind else (), look=look)


def _is_repeated(source: ByteStream, head: bytes, budget: Budget) -> bool:
    """Whether a content is only one byte again and again, or only blanks. Read to the end if it begins so."""
    if not messages.is_repeated(head):
        return False
    start = head
    while data := source.take():
        budget.spend()
        if not messages.is_repeated(start[:1] + data):
            return False
    return True


def _sentence(reason: Exception) -> str:
    text = str(reason)
    return text[:1].upper() + text[1:]
