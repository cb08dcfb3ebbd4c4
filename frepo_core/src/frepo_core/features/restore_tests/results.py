"""What the end of a restore test means: its outcome, and a sentence for people."""

import signal
from collections.abc import Mapping
from dataclasses import field
from datetime import timedelta
from typing import Any

from frepo_core.domain.durations import format_duration
from frepo_core.domain.sizes import readable_size
from frepo_core.domain.structs import struct
from frepo_core.services.backups.versions.version_checks import BROKEN, GOOD, UNKNOWN, Outcome
from frepo_core.services.base.records import VersionRecord

from .exit_status import NOT_TESTED, SKIPPED
from .restore_command import CommandResult


@struct
class RestoreResult:
    """The result of a restore test, as it was recorded. `size` is how many bytes the command has read.

    `status` is the exit status of the command, negative for the number of a signal, None if it was killed by the test
    or did not run. `is_spared` says that the version was not condemned because too many others were, `is_started`
    whether the command could be started, or there was a box. `tables` are those of the copy, each with whether it has
    rows; None if nothing was restored.
    """

    version: VersionRecord
    outcome: Outcome
    message: str
    status: int | None
    size: int
    seconds: float
    output: str
    is_spared: bool = False
    is_started: bool = True
    details: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, bool] | None = None

    @property
    def is_skipped(self) -> bool:
        """Whether the command said that it cannot test this kind of content."""
        return self.status == SKIPPED


def judge(result: CommandResult, size: int, timeout: timedelta) -> tuple[Outcome, str]:
    """Return the outcome, and a sentence for people. `size` is that of the version, in bytes."""
    if result.is_late:
        return UNKNOWN, f"the command did not end within {format_duration(timeout)} and was killed"
    if result.status < 0:
        return UNKNOWN, f"the command was killed by {_signal_name(-result.status)}"
    if result.status == SKIPPED:
        return UNKNOWN, f"the command cannot test this version (exit status {SKIPPED})"
    if result.status in NOT_TESTED:
        return UNKNOWN, NOT_TESTED[result.status]
    if result.status:
        return BROKEN, f"the command ended with exit status {result.status}"
    if result.size < size:
        read, left = readable_size(result.size), readable_size(size - result.size)
        return UNKNOWN, f"the command ended with exit status 0, but it has read only {read}, and left {left}"
    return GOOD, f"the command ended with exit status 0 after all {readable_size(size)}"


def unknown(version: VersionRecord, message: str) -> RestoreResult:
    """Return the result of a test that says nothing about the version."""
    return RestoreResult(version=version, outcome=UNKNOWN, message=message, status=None, size=0, seconds=0.0, output="")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
