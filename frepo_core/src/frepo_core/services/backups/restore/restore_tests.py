"""The use cases of restore tests: test a version with a command, and find the collection whose turn it is."""

import logging
import os
import shlex
import signal
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from sqlalchemy import func, select

from frepo_core.db import Database
from frepo_core.db.models import Collection
from frepo_core.domain.durations import format_duration
from frepo_core.domain.identity import By
from frepo_core.errors import (
    BytesMissingError,
    ConfigurationError,
    FieldsError,
    FrepoError,
    NotFoundError,
    PluginError,
)
from frepo_core.plugins import StorageError
from frepo_core.settings import Settings

from ...base.plugin_failures import storable
from ...base.records import CollectionRecord, VersionRecord
from ...content.blobs.stored_content import StoredContent
from ...content.verified_reader import VerifiedContent
from ...events.masking import Mask
from ..versions.version_checks import BROKEN, RESTORE, NewCheck, Outcome, VersionChecks
from ..versions.versions import Versions
from .command import CommandResult, run_command

log = logging.getLogger(__name__)

GOOD: Outcome = "good"
UNKNOWN: Outcome = "not checked"
# By this exit status, the command says that it cannot test this kind of content; also used by automake.
SKIPPED = 77
# The command gets these variables, not those with the service's secrets.
PASSED_ON = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR")


class RestoreFailedError(FrepoError):
    """A version could not be restored, or the test could not be completed."""


@dataclass(frozen=True, kw_only=True)
class RestoreResult:
    """The result of a restore test, as it was recorded. `size` is how many bytes the command has read.

    `status` is the exit status of the command, negative for the number of a signal, None if it was killed by the test.
    """

    version: VersionRecord
    outcome: Outcome
    message: str
    status: int | None
    size: int
    seconds: float
    output: str

    @property
    def is_skipped(self) -> bool:
        """Whether the command said that it cannot test this kind of content."""
        return self.status == SKIPPED


@dataclass(frozen=True, kw_only=True)
class RestoreCounts:
    """How many collections with versions had this outcome in their last restore test; `never`: they had none."""

    never: int
    good: int
    broken: int
    unknown: int


class RestoreTests:
    """Tests versions with commands. The command reads the version from its stdin; its exit status is the answer."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        versions: Versions,
        content: StoredContent,
        checks: VersionChecks,
        mask: Mask,
    ) -> None:
        self._database = database
        self._settings = settings
        self._versions = versions
        self._content = content
        self._checks = checks
        self._mask = mask

    def run(
        self,
        collection: CollectionRecord,
        version: str = "latest",
        *,
        command: str = "",
        timeout: timedelta | None = None,
        by: By,
        keep_going: Callable[[], None] = lambda: None,
    ) -> RestoreResult:
        """Stream a version into a command, and record the outcome as the check `restore` of the version.

        By default, the command and its time limit are those of the settings. The outcome is `broken` if the command
        says so by its exit status, or if the bytes are missing or not those of the upload; `not checked` if the command
        was killed, ended before it had read all, or was late. Raises `NotFoundError`, `FieldsError` and
        `ConfigurationError`, and what `keep_going` raises; then nothing is recorded.
        """
        arguments = self._split(command or self._settings.restore_tests_command)
        found = self._versions.find(collection.id, version)
        result = self._test(collection, found, arguments, timeout or self._settings.restore_tests_timeout, keep_going)
        details = {"command": Path(arguments[0]).name, "size": found.file.blob.size, "read": result.size}
        details |= {"status": result.status, "seconds": round(result.seconds, 3), "output": result.output}
        new = NewCheck(name=RESTORE, outcome=result.outcome, message=result.message, details=details)
        if not self._checks.record(found.id, new, by=by):
            raise NotFoundError("The version was deleted while it was tested")
        return result

    def find_next(self) -> CollectionRecord | None:
        """Return the collection with versions whose last restore test is the longest ago, or that never had one."""
        last = Collection.restore_tried_at
        query = select(Collection).where(Collection.versions_count > 0)
        with self._database.reading() as session:
            row = session.scalar(query.order_by(last.is_not(None), last, Collection.created_at, Collection.id).limit(1))
            return CollectionRecord.of(row) if row else None

    def count(self) -> RestoreCounts:
        """Count the collections with versions by the outcome of their last restore test."""
        outcome = Collection.restore_outcome
        number = func.count().label("number")
        query = select(outcome, number).where(Collection.versions_count > 0).group_by(outcome)
        counts = {row.restore_outcome: row.number for row in self._database.fetch_rows(query)}
        return RestoreCounts(
            never=counts.get(None, 0),
            good=counts.get(GOOD, 0),
            broken=counts.get(BROKEN, 0),
            unknown=counts.get(UNKNOWN, 0),
        )

    def _test(
        self,
        collection: CollectionRecord,
        version: VersionRecord,
        arguments: list[str],
        timeout: timedelta,
        keep_going: Callable[[], None],
    ) -> RestoreResult:
        content = None
        try:
            with tempfile.TemporaryDirectory(
                prefix="frepo-restore-", dir=self._settings.temp_directory, ignore_cleanup_errors=True
            ) as folder:
                content = self._content.open(version.file.blob)
                with content:
                    result = run_command(
                        arguments,
                        content,
                        folder=Path(folder),
                        environment=_environment(collection, version),
                        timeout=timeout.total_seconds(),
                        keep_going=keep_going,
                    )
        except BytesMissingError:
            return _unread(version, BROKEN, "the bytes of the version are missing in the storage")
        except (StorageError, PluginError) as error:
            if isinstance(content, VerifiedContent) and content.is_wrong:
                return _unread(version, BROKEN, "the storage returned other bytes than were uploaded")
            log.error("restore test of version %s: %s", version.id, error.message, exc_info=error)
            return _unread(version, UNKNOWN, "the storage did not return the bytes; the log has the reason")
        outcome, message = _judge(result, version.file.blob.size, timeout)
        output = self._mask(storable(result.output.strip()))
        last = output.rpartition("\n")[2].strip()
        return RestoreResult(
            version=version,
            outcome=outcome,
            message=f"{message}: {last}" if last and outcome != GOOD else message,
            status=None if result.is_late else result.status,
            size=result.size,
            seconds=result.seconds,
            output=output,
        )

    @staticmethod
    def _split(command: str) -> list[str]:
        try:
            arguments = shlex.split(command)
        except ValueError as error:
            raise FieldsError({"command": [f"is not a command line: {error}"]}) from None
        if not arguments:
            raise ConfigurationError(
                "No command for the restore test: name one with --command, or set restore_tests.command "
                "(RESTORE_TESTS_COMMAND), such as `gunzip -t`"
            )
        return arguments


def _judge(result: CommandResult, size: int, timeout: timedelta) -> tuple[Outcome, str]:
    """Return the outcome, and a sentence for people."""
    if result.is_late:
        return UNKNOWN, f"the command did not end within {format_duration(timeout)} and was killed"
    if result.status < 0:
        return UNKNOWN, f"the command was killed by {_signal_name(-result.status)}"
    if result.status == SKIPPED:
        return UNKNOWN, f"the command cannot test this version (exit status {SKIPPED})"
    if result.status:
        return BROKEN, f"the command ended with exit status {result.status}"
    if result.size < size:
        return UNKNOWN, f"the command ended with exit status 0, but it has read only {result.size} of {size} bytes"
    return GOOD, f"the command ended with exit status 0 after all {size} bytes"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _unread(version: VersionRecord, outcome: Outcome, message: str) -> RestoreResult:
    return RestoreResult(version=version, outcome=outcome, message=message, status=None, size=0, seconds=0.0, output="")


def _environment(collection: CollectionRecord, version: VersionRecord) -> Mapping[str, str]:
    """Return the variables for the command: a few of this process, and what it tests."""
    passed = {name: os.environ[name] for name in os.environ if name in PASSED_ON or name.startswith("LC_")}
    blob = version.file.blob
    return passed | {
        "FREPO_COLLECTION": collection.id,
        "FREPO_FILE_NAME": collection.filename,
        "FREPO_VERSION": str(version.number),
        "FREPO_MIME_TYPE": blob.mime,
        "FREPO_SIZE": str(blob.size),
        "FREPO_SHA256": blob.digest,
    }
