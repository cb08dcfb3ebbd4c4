"""Adds versions whose clients report how the command that made the content has ended."""

import logging
from collections.abc import Sequence

from frepo_core.domain.backups.runs import RUN, NewRun
from frepo_core.domain.identity import Identity
from frepo_core.errors import BodyEndedError, DigestMismatchError, FieldsError, FrepoError

from ...base.idempotency import RecordedAnswer
from ...base.records import CollectionRecord, VersionRecord
from ...content.checks.upload_checks import CheckReport
from ...content.ingest import Incoming
from ..versions.add_version import AddVersion, IdempotentVersion
from .run_reports import RunReports
from .run_versions import VOUCHED

log = logging.getLogger(__name__)

_VOUCHED = CheckReport(check=RUN, origin="the client", outcome="good", message=VOUCHED, covers="content")


class ReportedUploads:
    """Adds versions. What the client reports counts in the transaction that adds the version."""

    def __init__(self, add_version: AddVersion, runs: RunReports) -> None:
        self._add_version = add_version
        self._runs = runs

    def add(
        self,
        collection: CollectionRecord,
        incoming: Incoming,
        *,
        by: Identity,
        exit_statuses: Sequence[int] = (),
        idempotency: IdempotentVersion | None = None,
    ) -> VersionRecord | RecordedAnswer:
        """Add a version, and record a run if there are exit statuses, which are those of all stages of a command.

        If one is not 0, or if the content is not what the client says, a failed run is recorded and nothing stored.
        Raises `FieldsError` then, or as `AddVersion.add`. `collection` is as it was when the upload began. An answer
        that was recorded for the same key is returned, and no run recorded again.
        """
        if not exit_statuses:
            return self._add(collection, incoming, by=by, idempotency=idempotency)
        if any(exit_statuses):
            self._runs.record(collection.id, NewRun(outcome="failed", exit_statuses=exit_statuses), by=by)
            shown = ", ".join(map(str, exit_statuses))
            raise FieldsError({"exit_statuses": [f"The command ended with {shown}, so its output is not stored"]})
        try:
            version = self._add(collection, incoming, by=by, vouched=_VOUCHED, idempotency=idempotency)
        except (DigestMismatchError, BodyEndedError) as error:
            failed = NewRun(outcome="failed", exit_statuses=exit_statuses, error_output=error.message)
            self._runs.record(collection.id, failed, by=by)
            raise
        if isinstance(version, RecordedAnswer):
            return version
        self._record(collection.id, NewRun(outcome="ok", exit_statuses=exit_statuses, version=version.number), by=by)
        return version

    def _add(
        self,
        collection: CollectionRecord,
        incoming: Incoming,
        *,
        by: Identity,
        vouched: CheckReport | None = None,
        idempotency: IdempotentVersion | None,
    ) -> VersionRecord | RecordedAnswer:
        added = self._add_version.add(collection, incoming, by=by, vouched=vouched, idempotency=idempotency)
        return added if isinstance(added, RecordedAnswer) else added.version

    def _record(self, collection_id: str, run: NewRun, *, by: Identity) -> None:
        """Record a run that ended well. The version is committed: what fails now must not look as if it were not."""
        try:
            self._runs.record(collection_id, run, by=by)
        except FrepoError:
            log.exception("collection %s: a run that ended well was not recorded", collection_id)
