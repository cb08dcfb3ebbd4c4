"""The check of an upload: complete up to `integrity.inline_limit`, otherwise only what takes milliseconds.

Whatever the content is, it ends after `integrity.inline_seconds` of the processor's time, and waits for no other check.
"""

import os
import threading
import time
from dataclasses import replace
from typing import BinaryIO

from frepo_core.plugins import CheckResult, Finding, PluginContext, UploadedContent

from . import beginning, detection, messages, split_parts, text_encoding
from .budget import Budget
from .byte_stream import FileStream
from .formats import sql_dump, xz_index, zip_directory
from .formats.sql_programs import PROGRAMS
from .inspection import Inspection, check_behind_dump, check_in_front_of_dump, inspect, of_no_format
from .outcomes import BoundReached, BrokenContent, NotCheckable, OutOfMemory, OutOfTime, Report, switched_off
from .settings import WAITING, Command, IntegritySettings
from .tar_inspection import inspect_tar

HEAD = 4096
# For the window of the outermost decompressor: with those inside it and all buffers, a check needs less than 64 MiB.
MEMORY = 24 << 20


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


def find_command(settings: IntegritySettings, content: BinaryIO, name: str, mime: str) -> Command | None:
    """Return the first program that the settings name for this content."""
    content.seek(0)
    head = content.read(HEAD)
    return next((command for command in settings.command if command.is_for(head, name, mime)), None)


class InlineCheck:
    """Checks uploads, no more than `integrity.threads` of them at once: each needs a processor and memory."""

    def __init__(self) -> None:
        self._places: dict[int, threading.Semaphore] = {}

    def run(self, content: UploadedContent, context: PluginContext) -> CheckResult:
        """Check a content. Raises `Finding` if it is broken."""
        settings: IntegritySettings = context.settings
        try:
            report = self._check(content, settings)
        except BrokenContent as broken:
            raise Finding(
                broken.message,
                details={"kind": broken.kind, "kinds": list(broken.kinds)},
                on_finding=settings.action(broken.kind),
                verdict=broken.verdict,
                kinds=broken.kinds,
            ) from broken
        return CheckResult(
            outcome=report.outcome,
            message=report.message,
            details={"kinds": list(report.kinds)},
            covers=report.covers,
            kinds=report.names,
            database=report.database,
        )

    def _check(self, content: UploadedContent, settings: IntegritySettings) -> Report:
        places = self.places(settings.threads)
        if not places.acquire(blocking=False):  # waiting would keep a thread of the service
            return _check_later(content, settings, "Too many uploads are checked now, so it is checked later")
        try:
            return _check(content, settings)
        finally:
            places.release()

    def places(self, number: int) -> threading.Semaphore:
        """Return the places for this number of checks. Services with other settings in one process have others."""
        return self._places.setdefault(number, threading.Semaphore(number))


def _check(content: UploadedContent, settings: IntegritySettings) -> Report:
    budget = Budget(
        content.size,
        max_output=settings.max_output,
        max_ratio=settings.max_ratio,
        deadline=time.monotonic() + WAITING * settings.inline_seconds,
        processor_seconds=settings.inline_seconds,
    )
    inspection = Inspection(budget=budget, is_on=settings.is_on, memory=MEMORY)
    check = inspect if content.size <= settings.inline_limit else inspect_quickly
    with content.open() as file:
        try:
            report = check(file, content.size, content.file_name, inspection)
        except (OutOfTime, OutOfMemory) as reason:
            needed = "memory" if isinstance(reason, OutOfMemory) else "time"
            return _check_later(content, settings, f"The check needs more {needed}, so it is done later")
        command = find_command(settings, file, content.file_name, content.mime_type)
    if command is not None and report.outcome != "pending":
        return replace(report, outcome="pending", message=f"{command.program} checks it later")
    return report


def _check_later(content: UploadedContent, settings: IntegritySettings, message: str) -> Report:
    inspection = Inspection(budget=Budget(content.size, max_output=0, max_ratio=0), is_on=settings.is_on)
    with content.open() as file:
        return beginning.describe(file, content.size, content.file_name, inspection, message)


INLINE = InlineCheck()
