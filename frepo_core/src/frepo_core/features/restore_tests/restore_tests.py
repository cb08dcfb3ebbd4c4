"""The use case of a restore test: a version is streamed into a command, and the outcome is recorded."""

import logging
import os
import shlex
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from frepo_core.domain.backups.verdicts import RESTORE
from frepo_core.domain.error_lines import find_reason
from frepo_core.domain.identity import By
from frepo_core.errors import (
    BytesMissingError,
    ConfigurationError,
    FieldsError,
    NotFoundError,
    PluginError,
    ReadersBusyError,
    TooManyCondemnedError,
)
from frepo_core.plugins import StorageError
from frepo_core.services.backups.versions.late_results import LateResults
from frepo_core.services.backups.versions.version_checks import BROKEN, GOOD, UNKNOWN, NewCheck
from frepo_core.services.backups.versions.versions import Versions
from frepo_core.services.base.plugin_failures import storable
from frepo_core.services.base.records import CollectionRecord, VersionRecord
from frepo_core.services.content.blobs.stored_content import StoredContent
from frepo_core.services.content.verified_reader import VerifiedContent
from frepo_core.services.events.masking import Mask
from frepo_core.settings import Settings

from .restore_command import PIECE, CommandNotStartedError, CommandResult, Readable, run_command
from .results import RestoreResult, judge, unknown

log = logging.getLogger(__name__)

VERIFY = "`frepo storage:verify` finds out what is damaged"
# The command gets these variables, not those with the service's secrets.
PASSED_ON = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR")


class RestoreTests:
    """Tests versions with commands. The command reads the version from its stdin; its exit status is the answer."""

    def __init__(
        self,
        settings: Settings,
        versions: Versions,
        content: StoredContent,
        results: LateResults,
        mask: Mask,
    ) -> None:
        self._settings = settings
        self._versions = versions
        self._content = content
        self._results = results
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
        says so by its exit status, and the storage has returned the bytes of the upload. It is `not checked` if the
        storage has not, if the command did not run, was killed, was late, or ended before it had read all, and for a
        job that has condemned too many collections. Raises `NotFoundError`, `FieldsError` and `ConfigurationError`, and
        what `keep_going` raises; then nothing is recorded.
        """
        arguments = self._split(command or self._settings.restore_tests_command)
        found = self._versions.find(collection.id, version)
        result = self._test(collection, found, arguments, timeout or self._settings.restore_tests_timeout, keep_going)
        details = {"command": Path(arguments[0]).name, "size": found.file.blob.size, "read": result.size}
        details |= {"status": result.status, "seconds": round(result.seconds, 3), "output": result.output}
        new = NewCheck(name=RESTORE, outcome=result.outcome, message=result.message, details=details)
        try:
            is_recorded = self._results.record(found.id, new, by=by)
        except TooManyCondemnedError as error:
            text = f"{error.message}. It said: {result.message}"
            return replace(result, outcome=UNKNOWN, message=text, is_spared=True)
        if not is_recorded:
            raise NotFoundError("The version was deleted while it was tested")
        return result

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
                    ended = run_command(
                        arguments,
                        content,
                        folder=Path(folder),
                        environment=_environment(collection, version),
                        timeout=timeout.total_seconds(),
                        keep_going=keep_going,
                    )
                    result = self._result(version, ended, timeout)
                    left = timeout.total_seconds() - ended.seconds
                    if result.outcome == BROKEN and not _read_rest(content, left, keep_going):
                        text = f"{result.message}; there was no time to compare the rest of the bytes"
                        return replace(result, outcome=UNKNOWN, message=text)
                    return result
        except CommandNotStartedError as error:
            text = f"{error.message}: install it, or correct the command"
            return replace(unknown(version, text), is_started=False)
        except ReadersBusyError as error:
            return unknown(version, error.message)
        except BytesMissingError:
            return unknown(version, f"the bytes are missing in the storage: is its disk mounted? {VERIFY}")
        except (StorageError, PluginError) as error:
            if isinstance(content, VerifiedContent) and content.is_wrong:
                return unknown(version, f"the storage returned other bytes than were uploaded. {VERIFY}")
            log.error("restore test of version %s: %s", version.id, error.message, exc_info=error)
            return unknown(version, "the storage did not return the bytes; the log has the reason")

    def _result(self, version: VersionRecord, ended: CommandResult, timeout: timedelta) -> RestoreResult:
        outcome, message = judge(ended, version.file.blob.size, timeout)
        output = self._mask(storable(ended.output.strip()))
        why = self._mask(storable(ended.error)) or find_reason(output)
        return RestoreResult(
            version=version,
            outcome=outcome,
            message=f"{message}: {why}" if why and outcome != GOOD else message,
            status=None if ended.is_late else ended.status,
            size=ended.size,
            seconds=ended.seconds,
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


def _read_rest(content: Readable, seconds: float, keep_going: Callable[[], None]) -> bool:
    """Read what the command has not: it may have failed because of wrong bytes, which the end of the content shows.

    Return False if the time is over before that. Raises `StorageError` for wrong bytes.
    """
    deadline = time.monotonic() + seconds
    while content.read(PIECE):
        keep_going()
        if time.monotonic() >= deadline:
            return False
    return True


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
