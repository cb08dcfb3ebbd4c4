"""The use case of adding a version to a collection: `AddVersion.add` shows the order.

No transaction and no database connection is open before the rows are written, however long that takes. No version is
deleted unless the version that replaces it is committed in the same transaction.
"""

import contextlib

from frepo_core.db import Database, utc_now
from frepo_core.domain.identity import Identity
from frepo_core.errors import CollectionFullError, VersionTooBigError
from frepo_core.settings import Settings

from ...access.policies.policies import Policies
from ...base.idempotency import RecordedAnswer
from ...base.records import CollectionRecord
from ...content.blobs.lifecycle import Blobs
from ...content.checks.upload_checks import UploadChecks, log_findings
from ...content.ingest import Incoming, Ingest, Limit
from ...content.token_limits import check_type_of_version, token_size_limit
from ...events.refusals import Refusals
from ..holds.retention import Retention
from ..rotation.admission import VersionRules
from ..rotation.overtaken import Sending
from ..rotation.strategies import Strategies, StrategyAnswer
from ..trash.arrivals import Arrivals
from .addition import AddedVersion, Committed, log_addition
from .version_upload import IdempotentVersion, UploadOptions, VersionUpload

__all__ = ["AddVersion", "AddedVersion", "IdempotentVersion", "UploadOptions"]

NO_OPTIONS = UploadOptions()


class AddVersion:
    """Adds versions to collections."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        strategies: Strategies,
        ingest: Ingest,
        blobs: Blobs,
        checks: UploadChecks,
        refusals: Refusals,
        arrivals: Arrivals,
        policies: Policies,
        retention: Retention,
    ) -> None:
        self._ingest = ingest
        self._blobs = blobs
        self._checks = checks
        self._refusals = refusals
        self._arrivals = arrivals
        self._policies = policies
        self._retention = retention
        self.rules = VersionRules(database, strategies, settings)

    def add(
        self,
        collection: CollectionRecord,
        incoming: Incoming,
        *,
        by: Identity,
        options: UploadOptions = NO_OPTIONS,
    ) -> AddedVersion | RecordedAnswer:
        """Add a version, or return the answer that was recorded for the same Idempotency-Key.

        Raises `RuleError`, also for a check or a policy that refuses it, `PolicyFailedError`, `TooBigError`,
        `TypeNotAllowedError`, `VersionConflictError` or `IdempotencyConflictError`. Nothing has changed then.
        """
        size = incoming.declared_size
        sending = options.sending or Sending(noted=collection.last_number, began_at=utc_now())
        with (
            self._refusals.recorded(collection, by=by, size=size) as attempt,
            contextlib.closing(options.room or self._arrivals.room(collection, by)) as room,
        ):
            early = self._decide_early(collection, size, options, by=by)
            with self._ingest.read(incoming, self.limits(collection, by=by)) as content:
                attempt.size = content.size
                check_type_of_version(by, content.mime)
                upload = VersionUpload(
                    self._blobs, self.rules, content, room, collection, options, by=by, sending=sending, early=early
                )
                # They were not asked, or without the size.
                asks_policies = options.idempotency is not None or size is None
                committed = self._commit(upload, asks_policies=asks_policies)
            self._blobs.collect(upload.unused)
            if isinstance(committed, Committed):
                self._report(committed, upload)
        return committed if isinstance(committed, RecordedAnswer) else committed.added

    def _decide_early(
        self, collection: CollectionRecord, size: int | None, options: UploadOptions, *, by: Identity
    ) -> StrategyAnswer | None:
        """Refuse a version before its content is read, unless that was done, or an answer may be recorded."""
        if options.is_decided or options.idempotency is not None:
            return None
        self.check_policies(collection, size, by=by)
        return self.rules.refuse_early(collection, size or 0, after=options.after, values=options.values)

    def _commit(self, upload: VersionUpload, *, asks_policies: bool) -> Committed | RecordedAnswer:
        """Check the content, store it, and write the rows."""
        with upload:
            if recorded := upload.find_recorded():
                return recorded
            if asks_policies:
                self.check_policies(upload.collection, upload.content.size, by=upload.by)
            upload.check_content(self._checks)
            upload.store()
            return upload.write()

    def _report(self, committed: Committed, upload: VersionUpload) -> None:
        version = committed.added.version
        if version.locked_until is not None:
            self._retention.retain(version.file.blob.id)
        log_addition(committed, upload.by, self.rules.strategies.plugins)
        log_findings(f"collection {version.collection_id}: version {version.number}", upload.reports)

    def check_policies(self, collection: CollectionRecord, size: int | None, *, by: Identity) -> None:
        """Ask the policies about an upload of `size` bytes, None if that is unknown.

        Raises `PolicyRefusedError` or `PolicyFailedError`. As `VersionRules.refuse_early`, not for an upload with an
        Idempotency-Key.
        """
        self._policies.check("upload", collection, by=by, size=size)

    def limits(self, collection: CollectionRecord, *, by: Identity) -> tuple[Limit, ...]:
        """Return the limits for the size of one version: the token's and the collection's."""
        return (
            token_size_limit(by),
            Limit(size=collection.limits.version_size, refuse=VersionTooBigError),
            Limit(size=collection.limits.total_size, refuse=CollectionFullError),
        )
