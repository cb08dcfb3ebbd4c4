"""Checks of a large content that take milliseconds, as they read only its start and its end.

The rest is done later by a job. See `inspection` for the complete checks.
"""

import os
from typing import BinaryIO

from . import beginning, detection, messages, split_parts, text_encoding
from .byte_stream import FileStream
from .formats import sql_dump, xz_index, zip_directory
from .formats.sql_programs import PROGRAMS
from .inspection import Inspection, check_behind_dump, check_in_front_of_dump, of_no_format
from .outcomes import BoundReached, BrokenContent, NotCheckable, OutOfTime, Report, switched_off
from .tar_inspection import inspect_tar

PENDING = "The content is large, so it is checked completely later"


def inspect_quickly(file: BinaryIO, size: int, name: str, inspection: Inspection) -> Report:
    """Return a report: pending if a complete check is still to be done. Raises `BrokenContent`."""
    source = FileStream(file, size)
    head = source.peek(detection.HEAD)
    found = detection.detect(head)
    if found is None and _may_be_found_later(head):
        return beginning.describe(file, size, name, inspection, PENDING)
    if found is None:
        return of_no_format(head, name)
    if not inspection.is_on(found.kind):
        return switched_off(found.kind, (found.kind,))
    try:
        if done := _check_ends(file, size, source, found, inspection):
            return done
    except BrokenContent as broken:
        return split_parts.excuse(broken, name, head)
    except (NotCheckable, BoundReached, OutOfTime):
        pass  # the complete check tells more
    return beginning.describe(file, size, name, inspection, PENDING)


def _may_be_found_later(head: bytes) -> bool:
    """Whether the complete check may recognise what the first bytes do not show."""
    is_text = text_encoding.find_encoding(head) or messages.is_repeated(head)
    is_behind_text = any(failure or detection.detect(rest) for failure, _, rest in messages.split_text(head))
    return bool(is_text or is_behind_text or sql_dump.recognize_behind_text(head))


def _check_ends(
    file: BinaryIO, size: int, source: FileStream, found: detection.Detected, inspection: Inspection
) -> Report | None:
    """Return a report if nothing is left to be checked."""
    if found.kind == "zip":
        for _ in zip_directory.entries(file, zip_directory.read_directory(file, size), inspection.budget):
            pass
    elif found.kind == "xz":
        xz_index.check_index(file, size, inspection.budget)
    elif found.kind == "tar":
        # Contents of members have no checksum and are skipped, so that this is the complete check of most archives.
        return inspect_tar(source, inspection.budget, None, inspection.is_on)
    elif found.program:
        check_in_front_of_dump(source.peek(detection.HEAD), found.program)
        file.seek(max(0, size - sql_dump.TAIL), os.SEEK_SET)
        tail = file.read(sql_dump.TAIL)
        check_behind_dump(sql_dump.check_tail(tail, found.program, *PROGRAMS))  # of several, the last one's
    return None
