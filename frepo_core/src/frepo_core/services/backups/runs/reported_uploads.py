"""Adds versions whose clients report how the command that made the content has ended."""

import logging
from dataclasses import replace

from frepo_core.domain.backups.runs import RUN, NewRun
from frepo_core.domain.identity import Identity
from frepo_core.errors import BodyEndedError, DigestMismatchError, FieldsError, FrepoError
from frepo_core.settings import Settings

from ...base.idempotency import RecordedAnswer
from ...base.records import CollectionRecord, VersionRecord
from ...content.checks.upload_checks import CheckReport
from ...content.ingest import Incoming
from ..versions.add_version import NO_OPTIONS, AddVersion, UploadOptions
from .run_reports import RunReports
from .run_versions import VOUCHED

log = logging.getLogger(__name__)

_CHECKED = "The client has checked the content before its encryption"


class ReportedUploads:
    """Adds versions. What the client reports counts in the transaction that adds the version."""

    def __init__(self, add_version: AddVersion, runs: RunReports, settings: Settings) -> None:
        self._add_version = add_version
        self._runs = runs
        self._quarantines_broken = settings.checks_on_broken == "quarantine"

    def add(
        self,
        collection: CollectionRecord,
        incoming: Incoming,
        *,
        by: Identity,
        run: NewRun | None = None,
        options: UploadOptions = NO_OPTIONS,
    ) -> VersionRecord | RecordedAnswer:
        """Add a version, and record the run that made it.

        If it has failed, or if the content is not what the client says, a failed run is recorded and nothing stored.
        Raises `FieldsError` then, or as `AddVersion.add`. `collection` is as it was when the upload began. An answer
        that was recorded for the same key is returned, and no run recorded again.
        """
        if run is None:
            return self._add(collection, incoming, by, options)
        if run.has_failed:
            self._runs.record(collection.id, replace(run, outcome="failed", stored_nothing=True), by=by)
            shown = ", ".join(map(str, run.exit_statuses)) or run.reason
            raise FieldsError({"exit_statuses": [f"The command ended with {shown}, so its output is not stored"]})
        try:
            version = self._add(collection, incoming, by, replace(options, vouched=self._report(run), host=run.host))
        except (DigestMismatchError, BodyEndedError) as error:
            output = f"{run.error_output}\n{error.message}"
            failed = replace(run, outcome="failed", error_output=output, stored_nothing=True)
            self._runs.record(collection.id, failed, by=by)
            raise
        if isinstance(version, RecordedAnswer):
            return version
        self._record(collection.id, replace(run, version=version.number), by=by)
        return version

    def _report(self, run: NewRun) -> CheckReport | None:
        """Return what the client says about the content, None if it says nothing."""
        check = run.check
        message = "" if check is None else f"{_CHECKED}: {check.message}"
        if check is not None and check.outcome == "broken":
            quarantines = self._quarantines_broken
            return CheckReport(
                check=RUN, origin="the client", outcome="broken", message=message, quarantines=quarantines
            )
        if run.exit_statuses:
            return CheckReport(check=RUN, origin="the client", outcome="good", message=VOUCHED, covers="content")
        if check is None:
            return None
        return CheckReport(check=RUN, origin="the client", outcome="good", message=message, covers=check.covers)

    def _add(
        self, collection: CollectionRecord, incoming: Incoming, by: Identity, options: UploadOptions
    ) -> VersionRecord | RecordedAnswer:
        added = self._add_version.add(collection, incoming, by=by, options=options)
        return added if isinstance(added, RecordedAnswer) else added.version

    def _record(self, collection_id: str, run: NewRun, *, by: Identity) -> None:
        """Record a run that ended well. The version is committed: what fails now must not look as if it were not."""
        try:
            self._runs.record(collection_id, run, by=by)
        except FrepoError:
            log.exception("collection %s: a run that ended well was not recorded", collection_id)
