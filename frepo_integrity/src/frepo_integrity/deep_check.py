"""The job that checks what an upload could not wait for: large contents, and those that only a program understands."""

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, cast

from frepo_core.plugins import FollowedReading, JobContext, LeaseLost, NotFoundError, PendingCheck, readable_size

from .budget import Budget
from .byte_stream import CHUNK
from .inspection import Inspection, inspect
from .outcomes import BrokenContent, NotCheckable, OutOfTime, Report
from .settings import JOB, NAME, Command, IntegritySettings
from .tool_command import Limits, run_command
from .upload_check import find_command

# How many bytes of a version add one second to the time limit.
DEEP_SPEED = 10_000_000
# What a program may write, in bytes.
COMMAND_OUTPUT = 64 << 20
# Each look at the lease asks the database.
LEASE_SECONDS = 1.0
# How many versions are asked for at once. They are in rounds, one of each collection.
BATCH = 100
_STILL_PENDING = ("pending", "unreadable", "failed")


class Unreadable(Exception):
    """The content cannot be read now, for example because its storage is down. That says nothing about it."""


class StoredContent:
    """A seekable file of `size` bytes. Whatever the storage raises, and an early end, is raised as `Unreadable`."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size
        self._position = 0

    def read(self, size: int = -1) -> bytes:
        """Read at most `size` bytes. Raises `Unreadable`."""
        try:
            data = self._file.read(size)
        except Exception as error:
            raise Unreadable(f"{type(error).__name__}: {error}") from error
        self._position += len(data)
        if size and not data and self._position < self._size:
            raise Unreadable(f"the storage returns {self._position} of {self._size} bytes")
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to a position, and return it. Raises `Unreadable`."""
        try:
            self._position = self._file.seek(offset, whence)
        except Exception as error:
            raise Unreadable(f"{type(error).__name__}: {error}") from error
        return self._position

    def read_through(self) -> None:
        """Read from the start to the end, which shows damaged bytes. Raises `Unreadable`."""
        self.seek(0)
        while self.read(CHUNK):
            pass

    @property
    def file(self) -> BinaryIO:
        """This content as a file: those who read it use `read` and `seek` only."""
        return cast(BinaryIO, self)


def run(context: JobContext) -> Mapping[str, Any]:
    """Check each pending version once, one of each collection after the other; return how many had each outcome.

    Raises what recording a result has raised, after all others were checked.
    """
    counts: Counter[str] = Counter()
    tried: list[str] = []
    failures: list[Exception] = []
    while pending := context.service.pending_checks(NAME, limit=BATCH, without=tried):
        for check in pending:
            context.progress(
                f"version {check.version_number} of collection {check.collection_id}, {readable_size(check.size)}"
            )
            outcome = _check_and_record(check, context, failures)
            counts[outcome] += 1
            if outcome in _STILL_PENDING:
                tried.append(check.version_id)
    if failures:
        raise failures[0]
    return dict(counts)


def _check_and_record(check: PendingCheck, context: JobContext, failures: list[Exception]) -> str:
    """Return the outcome. A content that cannot be read stays pending, and that is no attempt."""
    where = (check.version_number, check.collection_id)
    try:
        with context.service.attempt(check, job=JOB) as is_due:
            return _attempt(check, context) if is_due else "unjudged"
    except NotFoundError:
        return "deleted"
    except LeaseLost:
        raise
    except _NotRecorded as failure:
        context.log.exception("the check of version %s of collection %s is not recorded as it is", *where)
        failures.append(failure.error)
        return "failed"
    except Exception as error:  # whatever a storage raises, the other versions are checked
        context.log.warning("version %s of collection %s cannot be checked now: %s", *where, error, exc_info=True)
        return "unreadable"


def _attempt(check: PendingCheck, context: JobContext) -> str:
    """Return the outcome that is recorded. Raises `_NotRecorded`, `LeaseLost`, and whatever a storage raises."""
    with (
        context.service.open_version(check.collection_id, check.version_number) as file,
        context.service.followed(check, file) as reading,
    ):
        found = _judge(reading, check, context)
    context.check_lease()
    try:
        return _record(check, found, context)
    except LeaseLost:
        raise
    except Exception as error:
        raise _NotRecorded(error) from error


class _NotRecorded(Exception):
    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def _judge(reading: FollowedReading, check: PendingCheck, context: JobContext) -> Report | BrokenContent:
    """Return what a check finds. Raises `Unreadable`, and `LeaseLost`."""
    content = StoredContent(reading.file, check.size)
    try:
        return check_completely(
            content.file, check, context.settings, _lease_ticks(context), waited=lambda: reading.waited
        )
    except BrokenContent as broken:
        content.read_through()  # damaged bytes of the storage are no fault of the backup
        return broken
    except (LeaseLost, Unreadable):
        raise
    except Exception as error:  # a fault of the check condemns nothing
        context.log.exception("the check of version %s of %s fails", check.version_number, check.collection_id)
        return Report(outcome="not checked", message=f"The check failed: {type(error).__name__}", has_looked=False)


def _record(check: PendingCheck, found: Report | BrokenContent, context: JobContext) -> str:
    service = context.service
    details: dict[str, Any] = {"kinds": list(found.kinds)}
    if isinstance(found, BrokenContent):
        details["kind"] = found.kind
        recorded = service.record_check(
            check,
            found.verdict,
            found.message,
            job=JOB,
            details=details,
            kinds=found.kinds,
            on_finding=context.settings.action(found.kind),
        )
        return found.verdict if recorded else "deleted"
    recorded = service.record_check(
        check,
        found.outcome,
        found.message,
        job=JOB,
        details=details,
        covers=found.covers,
        kinds=found.names,
        database=found.database,
    )
    return found.outcome if recorded else "deleted"


def check_completely(
    content: BinaryIO,
    check: PendingCheck,
    settings: IntegritySettings,
    tick: Callable[[], object] = lambda: None,
    *,
    waited: Callable[[], float] = lambda: 0.0,
) -> Report:
    """Check a stored content by its format and by the program that the settings name. Raises `BrokenContent`.

    Both together take as long as `integrity.deep_seconds` and one second for each 10 MB; what takes longer is
    pending. Each further attempt has twice the time. The seconds that `waited` returns do not count.
    """
    seconds = (settings.deep_seconds + check.size / DEEP_SPEED) * 2**check.attempts
    deadline = time.monotonic() + seconds
    budget = Budget(
        check.size,
        max_output=settings.max_output,
        max_ratio=settings.max_ratio,
        deadline=deadline,
        tick=tick,
        waited=waited,
    )
    try:
        report = inspect(content, check.size, check.file_name, Inspection(budget=budget, is_on=settings.is_on))
        command = find_command(settings, content, check.file_name, check.mime_type)
        if command is None:
            return report
        return _with_command(report, command, content, settings, deadline + waited(), tick)
    except OutOfTime:
        message = f"The check takes longer than {seconds:.3g} seconds, see integrity.deep_seconds"
        return Report(outcome="pending", message=message)


def _with_command(
    report: Report,
    command: Command,
    content: BinaryIO,
    settings: IntegritySettings,
    deadline: float,
    tick: Callable[[], object],
) -> Report:
    """Return the report of both. Raises `OutOfTime` if the program needs more than is left until the deadline."""
    left = max(0.0, deadline - time.monotonic())
    limits = Limits(seconds=min(settings.command_seconds, left), memory=settings.command_memory, output=COMMAND_OUTPUT)
    try:
        answer = run_command(command, content, limits, tick)
    except NotCheckable as reason:
        if left < settings.command_seconds and time.monotonic() > deadline:
            raise OutOfTime() from reason
        answer = Report(outcome="not checked", message=str(reason))
    good = [one for one in (report, answer) if one.outcome == "good"]
    message = ". ".join(one.message for one in good or (report, answer))
    return Report(
        outcome="good" if good else "not checked",
        message=message,
        kinds=(*report.kinds, *answer.kinds),
        covers="content" if any(one.covers == "content" for one in good) else "container",
        label=report.label,
        has_looked=report.has_looked,
        database=report.database,
    )


def _lease_ticks(context: JobContext) -> Callable[[], None]:
    """Return a function that looks at the lease once a second."""
    looked_at = time.monotonic()

    def tick() -> None:
        nonlocal looked_at
        if time.monotonic() - looked_at > LEASE_SECONDS:
            context.check_lease()
            looked_at = time.monotonic()

    return tick
