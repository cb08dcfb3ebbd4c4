"""What a content seems to be while its check has not ended: the formats that its first bytes show."""

from dataclasses import replace
from typing import BinaryIO

from . import detection, messages, text_encoding
from .budget import Budget
from .byte_stream import ByteStream, FileStream
from .formats import sql_dump
from .formats.codecs import CODECS, MEMORY
from .formats.compressed import decompress
from .formats.single_pass import FORMATS
from .inspection import MAX_DEPTH, Inspection, of_no_format
from .outcomes import BoundReached, BrokenContent, NotCheckable, OutOfTime, Report, switched_off

# The processor's time in seconds, and the bytes of output. bzip2 decompresses 900 kB before it shows the first byte.
_SECONDS = 0.2
_MAX_OUTPUT = 8 << 20


def describe(file: BinaryIO, size: int, name: str, inspection: Inspection, message: str) -> Report:
    """Return a pending report with the formats that the first bytes of a content show, also inside compressions.

    It takes at most 0.2 seconds of the processor's time, and decompresses a few hundred KiB.
    """
    budget = Budget(size, max_output=_MAX_OUTPUT, max_ratio=1, processor_seconds=_SECONDS)
    found = _look(FileStream(file, size), name, replace(inspection, budget=budget), depth=0)
    return replace(found, outcome="pending", message=message) if found.has_looked else found


def _look(source: ByteStream, name: str, inspection: Inspection, depth: int) -> Report:
    if encoding := text_encoding.find_encoding(source.peek(detection.HEAD)):
        source = text_encoding.decode(source, encoding, inspection.budget)
    head = source.peek(detection.HEAD)
    found = detection.detect(head)
    program = found.program if found else sql_dump.recognize_behind_text(head)
    kind = "sql" if program else found.kind if found else ""
    if not kind:
        return of_no_format(head, name, messages.recognize(head))
    if not inspection.is_on(kind):
        return switched_off(kind, (kind,))
    if kind in CODECS and depth < MAX_DEPTH:
        return _look_inside(source, kind, name, inspection, depth)
    label = program.label if program else FORMATS[kind].label if kind in FORMATS else ""
    return Report(outcome="pending", message="", kinds=(kind,), label=label)


def _look_inside(source: ByteStream, kind: str, name: str, inspection: Inspection, depth: int) -> Report:
    inside = ByteStream(decompress(source, CODECS[kind], inspection.budget, MEMORY >> depth))
    outer = Report(outcome="pending", message="", kinds=(kind,))
    try:
        found = _look(inside, detection.inner_name(name), inspection, depth + 1)
    except (BrokenContent, NotCheckable, BoundReached, OutOfTime):  # the complete check tells more
        return outer
    return found.inside(kind) if found.has_looked else outer
