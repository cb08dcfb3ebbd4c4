"""Runs of backup jobs as clients report them: what the service cannot see, such as the exit status of a dump."""

import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from typing import Literal

from ..error_lines import find_reason
from ..structs import struct
from .verdicts import shorten

RunOutcome = Literal["ok", "failed", "skipped"]
# The name of the check that a report of the sender is, about the version that its run has stored.
RUN = "run"
ERROR_OUTPUT_BYTES = 8 << 10
# How long after its arrival a version can be the one of a run that failed.
CONDEMNABLE = timedelta(days=1)
# How long the report of a run may be on its way. Clients round down, too.
_DELAY = timedelta(seconds=5)
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_LINE_END = re.compile(r"\r\n?")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@struct
class ClientCheck:
    """What the client found in a content before it encrypted it: the service cannot look into it.

    `covers` is what a good one has looked at: the end of the container, or that of the content in it.
    """

    outcome: Literal["good", "broken"]
    covers: Literal["container", "content"] = "container"
    message: str = ""


@struct
class NewRun:
    """A run to record. `version` (a number) and `sha256` name what it has stored.

    `started_at` is by the clock of the client (aware). `exit_statuses` are those of all stages of a pipe. Of
    `error_output`, the end is kept. `check` counts for a version that is added with the run. With
    `stored_nothing`, the client knows that no version is of this run: none is condemned. `measured` are numbers that
    the client has found at the source, by name; times are seconds since 1970. Assertions of restore tests read them.
    """

    outcome: RunOutcome
    started_at: datetime | None = None
    seconds: int | None = None
    exit_statuses: Sequence[int] = ()
    error_output: str = ""
    host: str = ""
    client: str = ""
    version: int | None = None
    sha256: str | None = None
    check: ClientCheck | None = None
    stored_nothing: bool = False
    measured: Mapping[str, float] = field(default_factory=dict)

    @property
    def has_failed(self) -> bool:
        """Whether what it has made is no backup."""
        return self.outcome != "ok" or any(self.exit_statuses)

    @property
    def is_proven(self) -> bool:
        """Whether the client vouches for what it has stored: it knows that no stage of the run failed."""
        names_version = self.version is not None or self.sha256 is not None
        return self.outcome == "ok" and names_version and bool(self.exit_statuses) and not any(self.exit_statuses)

    @property
    def reason(self) -> str:
        """Why the run failed or was skipped: a line of its output, see `find_reason`, else its exit statuses."""
        why = find_reason(clean_output(self.error_output))
        if why or self.outcome == "ok":
            return shorten(why)
        if self.outcome == "skipped":
            return "No reason was given"
        if any(self.exit_statuses):
            return shorten(f"Exit statuses: {', '.join(map(_named, self.exit_statuses))}")
        return "The run failed"

    def earliest_arrival(self, now: datetime) -> datetime | None:
        """Return since when a version is one of this run (aware), by whatever is latest; None: that is not known.

        A wrong clock of the client must not condemn the version of an earlier run, so `seconds` count, too.
        """
        starts = [] if self.started_at is None else [self.started_at]
        if self.seconds is not None:
            starts.append(now - timedelta(seconds=self.seconds) - _DELAY)
        return max([*starts, now - CONDEMNABLE]) if starts else None


def _named(status: int) -> str:
    """Return an exit status, with the signal if it is that of a shell for a command that was ended by one: 128 + n."""
    try:
        return f"{status} ({signal.Signals(status - 128).name})"
    except ValueError:
        return str(status)


def may_condemn(*, is_newest: bool, arrived_at: datetime, now: datetime) -> bool:
    """Return whether a failed run may condemn a version that its client has sent: the newest, within a day (aware)."""
    return is_newest and arrived_at >= now - CONDEMNABLE


@struct
class LastRun:
    """The run of a collection that was reported last, at a time (UTC, aware)."""

    outcome: str
    at: datetime
    reason: str

    @classmethod
    def of(cls, outcome: str | None, at: datetime | None, reason: str | None) -> "LastRun | None":
        """Make it of the columns of a collection; None if no run was reported."""
        return None if outcome is None or at is None else cls(outcome=outcome, at=at, reason=reason or "")


def clean_output(text: str) -> str:
    """Return the end of a program's output, in at most 8 KiB of UTF-8, without control characters but line ends."""
    text = _CONTROLS.sub("", _LINE_END.sub("\n", _COLOURS.sub("", text)))
    return text.encode()[-ERROR_OUTPUT_BYTES:].decode(errors="ignore")
