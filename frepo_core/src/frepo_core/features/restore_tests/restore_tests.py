"""The use case of a restore test: a version is restored, and the outcome is recorded."""

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, Protocol

from sqlalchemy.orm import Session

from frepo_core.domain.backups.verdicts import RESTORE
from frepo_core.domain.identity import By
from frepo_core.errors import (
    BytesMissingError,
    NotFoundError,
    PluginError,
    ReadersBusyError,
    TooManyCondemnedError,
)
from frepo_core.plugins import StorageError
from frepo_core.services.backups.versions.late_results import LateResults
from frepo_core.services.backups.versions.version_checks import BROKEN, GOOD, UNKNOWN, NewCheck
from frepo_core.services.backups.versions.versions import Versions
from frepo_core.services.base.records import CollectionRecord, VersionRecord
from frepo_core.services.content.blobs.stored_content import StoredContent
from frepo_core.services.content.verified_reader import VerifiedContent
from frepo_core.services.events.masking import Mask
from frepo_core.settings import Settings

from .choices import RestoreChoices
from .command_tests import CommandTest
from .engine_tests import EngineTests
from .restore_command import PIECE, CommandNotStartedError, Readable
from .results import RestoreResult, unknown

log = logging.getLogger(__name__)

VERIFY = "`frepo storage:verify` finds out what is damaged"


class Restorer(Protocol):
    """Restores a content, in some way."""

    def restore(
        self,
        content: Readable,
        collection: CollectionRecord,
        version: VersionRecord,
        timeout: timedelta,
        keep_going: Callable[[], None],
    ) -> RestoreResult:
        """Return what was found. Raises `CommandNotStartedError`, and what `content.read` and `keep_going` raise."""


class RestoreTests:
    """Tests versions: in a box with the engine of the collection, or with a command that has the service's rights."""

    def __init__(
        self,
        settings: Settings,
        versions: Versions,
        content: StoredContent,
        results: LateResults,
        mask: Mask,
        choices: RestoreChoices,
        engines: EngineTests,
    ) -> None:
        self._settings = settings
        self._versions = versions
        self._content = content
        self._results = results
        self._mask = mask
        self._choices = choices
        self._engines = engines

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
        """Restore a version, and record the outcome as the check `restore` of the version.

        Without a command, it is restored by the engine of the collection, or else by the command of the settings. The
        outcome is `broken` only if the storage has returned the bytes of the upload. It is `not checked` if it has not,
        if the restore could not run, was killed, was late, or ended before it had read all, and for a job that has
        condemned too many collections. Raises `NotFoundError`, `FieldsError` and `ConfigurationError`, and what
        `keep_going` raises; then nothing is recorded.
        """
        restorer = self._restorer(collection, command)
        found = self._versions.find(collection.id, version)
        result = self._test(collection, found, restorer, timeout or self._settings.restore_tests_timeout, keep_going)
        new = NewCheck(name=RESTORE, outcome=result.outcome, message=result.message, details=_details(result))
        try:
            is_recorded = self._results.record(found.id, new, by=by, along=lambda session: _remember(session, result))
        except TooManyCondemnedError as error:
            text = f"{error.message}. It said: {result.message}"
            return replace(result, outcome=UNKNOWN, message=text, is_spared=True)
        if not is_recorded:
            raise NotFoundError("The version was deleted while it was tested")
        return result

    def _restorer(self, collection: CollectionRecord, command: str) -> Restorer:
        if not command:
            choice = self._choices.of(collection.id)
            if engine := self._choices.engine_of(collection, choice):
                return self._engines.test(engine, choice)
        return CommandTest(self._settings, command or self._settings.restore_tests_command, self._mask)

    def _test(
        self,
        collection: CollectionRecord,
        version: VersionRecord,
        restorer: Restorer,
        timeout: timedelta,
        keep_going: Callable[[], None],
    ) -> RestoreResult:
        content = None
        try:
            content = self._content.open(version.file.blob)
            with content:
                result = restorer.restore(content, collection, version, timeout, keep_going)
                left = timeout.total_seconds() - result.seconds
                if result.outcome == BROKEN and not _read_rest(content, left, keep_going):
                    text = f"{result.message}; there was no time to compare the rest of the bytes"
                    return replace(result, outcome=UNKNOWN, message=text)
                return result
        except CommandNotStartedError as error:
            return replace(unknown(version, error.message), is_started=False)
        except ReadersBusyError as error:
            return unknown(version, error.message)
        except BytesMissingError:
            return unknown(version, f"the bytes are missing in the storage: is its disk mounted? {VERIFY}")
        except (StorageError, PluginError) as error:
            if isinstance(content, VerifiedContent) and content.is_wrong:
                return unknown(version, f"the storage returned other bytes than were uploaded. {VERIFY}")
            log.error("restore test of version %s: %s", version.id, error.message, exc_info=error)
            return unknown(version, "the storage did not return the bytes; the log has the reason")


def _details(result: RestoreResult) -> dict[str, Any]:
    """Return what is recorded next to the outcome."""
    common: dict[str, Any] = {"size": result.version.file.blob.size, "read": result.size, "status": result.status}
    common |= {"seconds": round(result.seconds, 3), "output": result.output}
    return {**result.details, **common}


def _remember(session: Session, result: RestoreResult) -> None:
    """Note which tables had rows, for the next test."""
    if result.outcome == GOOD and result.tables is not None:
        RestoreChoices.remember(session, result.version.collection_id, result.tables)


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
