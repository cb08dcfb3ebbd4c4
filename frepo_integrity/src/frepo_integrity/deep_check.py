"""The job that checks what an upload could not wait for: large contents, and those that only a program understands."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, BinaryIO, Literal

from frepo_core.plugins import JobContext, LeaseLost, NotFoundError, PendingCheck

from .budget import Budget
from .inspection import Inspection, inspect
from .outcomes import BrokenContent, NotCheckable, Outcome, OutOfTime, Report
from .settings import Command, IntegritySettings
from .tool_command import Limits, run_command
from .upload_check import NAME, find_command

JOB = "integrity_deep"
SCHEDULE = "every 15m"
# Each look at the lease asks the database.
LEASE_SECONDS = 1.0
# A content that cannot be read, for example because its storage is down, is tried again this long.
PATIENCE = timedelta(days=1)


def run(context: JobContext) -> Mapping[str, Any]:
    """Check all pending versions, the oldest first; return how many of them had each outcome."""
    counts: Counter[str] = Counter()
    unreadable: list[str] = []
    while pending := context.service.pending_checks(NAME, limit=1, without=unreadable):
        check = pending[0]
        context.progress(f"version {check.version_number} of collection {check.collection_id}, {check.size} bytes")
        try:
            outcome = _check_and_record(check, context)
        except LeaseLost:
            raise
        except Exception as error:  # whatever a storage raises, the other versions are checked
            where = (check.version_number, check.collection_id)
            context.log.warning("version %s of collection %s cannot be checked now: %s", *where, error, exc_info=True)
            unreadable.append(check.version_id)
            outcome = _give_up(check, context, error)
        counts[outcome] += 1
    return dict(counts)


def _check_and_record(check: PendingCheck, context: JobContext) -> str:
    tick = _lease_ticks(context)
    details: dict[str, Any] = {}
    report = Report(outcome="not checked", message="")
    outcome: Literal["broken"] | Outcome
    try:
        with context.service.open_version(check.collection_id, check.version_number) as content:
            report = check_completely(content, check, context.settings, tick)
        outcome, message, details["kinds"] = report.outcome, report.message, list(report.kinds)
    except NotFoundError:
        return "deleted"
    except BrokenContent as broken:
        outcome, message = "broken", broken.message
        details.update(kind=broken.kind, kinds=list(broken.kinds))
    context.check_lease()
    is_recorded = context.service.record_check(
        check,
        outcome,
        message,
        job=JOB,
        details=details,
        covers=report.covers,
        kinds=report.names,
        database=report.database,
    )
    return outcome if is_recorded else "deleted"


def check_completely(
    content: BinaryIO, check: PendingCheck, settings: IntegritySettings, tick: Callable[[], object] = lambda: None
) -> Report:
    """Check a stored content by its format and by the program that the settings name. Raises `BrokenContent`.

    Both together take at most `integrity.deep_seconds`; what is not done by then is not checked.
    """
    deadline = time.monotonic() + settings.deep_seconds
    budget = Budget(
        check.size, max_output=settings.max_output, max_ratio=settings.max_ratio, deadline=deadline, tick=tick
    )
    try:
        report = inspect(content, check.size, check.file_name, Inspection(budget=budget, is_on=settings.is_on))
    except OutOfTime:
        message = f"The check takes longer than {settings.deep_seconds:g} seconds, see integrity.deep_seconds"
        return Report(outcome="not checked", message=message)
    command = find_command(settings, content, check.file_name, check.mime_type)
    return report if command is None else _with_command(report, command, content, settings, deadline, tick)


def _with_command(
    report: Report,
    command: Command,
    content: BinaryIO,
    settings: IntegritySettings,
    deadline: float,
    tick: Callable[[], object],
) -> Report:
    seconds = min(settings.command_seconds, max(0.0, deadline - time.monotonic()))
    limits = Limits(seconds=seconds, memory=settings.command_memory, output=settings.command_output)
    try:
        answer = run_command(command, content, limits, tick)
    except NotCheckable as reason:
        answer = Report(outcome="not checked", message=str(reason))
    good = [one for one in (report, answer) if one.outcome == "good"]
    message = ". ".join(one.message for one in good or (report, answer))
    return Report(outcome="good" if good else "not checked", message=message, kinds=(*report.kinds, *answer.kinds))


def _lease_ticks(context: JobContext) -> Callable[[], None]:
    """Return a function that looks at the lease once a second."""
    looked_at = time.monotonic()

    def tick() -> None:
        nonlocal looked_at
        if time.monotonic() - looked_at > LEASE_SECONDS:
            context.check_lease()
            looked_at = time.monotonic()

    return tick


def _give_up(check: PendingCheck, context: JobContext, error: Exception) -> str:
    """Record that a content could not be read for a day; until then the check stays pending."""
    if context.now - check.since < PATIENCE:
        return "unreadable"
    message = f"The stored content could not be read for a day: {type(error).__name__}"
    context.service.record_check(check, "not checked", message, job=JOB)
    return "not checked"
