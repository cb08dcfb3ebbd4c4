"""The check of an upload: complete up to `integrity.inline_limit`, otherwise only what takes milliseconds.

Whatever the content is, it ends after `integrity.inline_seconds` of the processor's time, and waits for no other check.
"""

import threading
import time
from dataclasses import replace
from typing import BinaryIO

from frepo_core.plugins import CheckResult, Finding, PluginContext, UploadedContent

from . import beginning
from .budget import Budget
from .inspection import Inspection, inspect
from .outcomes import BrokenContent, OutOfMemory, OutOfTime, Report
from .quick_inspection import inspect_quickly
from .settings import WAITING, Command, IntegritySettings

HEAD = 4096
# For the window of the outermost decompressor: with those inside it and all buffers, a check needs less than 64 MiB.
MEMORY = 24 << 20


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
