"""A restore test with a command of the operator, which runs as the user of the service."""

import os
import shlex
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

from frepo_core.domain.error_lines import find_reason
from frepo_core.errors import ConfigurationError, FieldsError
from frepo_core.services.backups.versions.version_checks import GOOD
from frepo_core.services.base.plugin_failures import storable
from frepo_core.services.base.records import CollectionRecord, VersionRecord
from frepo_core.services.base.temporary_folder import TemporaryFolder
from frepo_core.services.events.masking import Mask
from frepo_core.settings import Settings

from .restore_command import CommandResult, Readable, run_command
from .results import RestoreResult, judge

# The command gets these variables, not those with the service's secrets.
PASSED_ON = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR")


class CommandTest:
    """Streams a version into a command: it reads the version from its stdin, and its exit status is the answer."""

    def __init__(self, settings: Settings, command: str, mask: Mask) -> None:
        self._temp_directory = settings.temp_directory
        self._arguments = split(command)
        self._mask = mask

    def restore(
        self,
        content: Readable,
        collection: CollectionRecord,
        version: VersionRecord,
        timeout: timedelta,
        keep_going: Callable[[], None],
    ) -> RestoreResult:
        """Run the command. Raises `CommandNotStartedError`, and what `content.read` and `keep_going` raise."""
        with TemporaryFolder("frepo-restore-", self._temp_directory) as folder:
            ended = run_command(
                self._arguments,
                content,
                folder=folder.path,
                environment=_environment(collection, version),
                timeout=timeout.total_seconds(),
                keep_going=keep_going,
            )
            return self._result(version, ended, timeout)

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
            details={"command": Path(self._arguments[0]).name},
        )


def split(command: str) -> list[str]:
    """Return the words of a command line. Raises `FieldsError`, and `ConfigurationError` if there is none."""
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
