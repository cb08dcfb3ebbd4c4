"""The use case of adding a version to a collection.

`AddVersion.add` takes these steps, in this order:

1. Check what needs no content: limits on the declared size, `If-Match`, and whether the strategy would refuse.
2. Ingest the content: one pass computes its digest, counts its bytes, detects its type and stops at the limit.
3. Run the upload checks of plug-ins over it.
4. Store the content in a backend, unless a sound blob with the same digest exists.
5. Ask the strategy which versions to evict, in a thread with a deadline.
6. Write in one short transaction: lock the collection, move the versions that the strategy evicts into the trash,
   insert the new version (`rotation.added_rows`). The transaction alone is tried again after a conflict. If the
   collection has changed since the strategy was asked, it is asked again.
7. After the commit, delete the blobs that nothing uses any more, if the trash is off.

No transaction and no database connection is open during steps 2 to 5, however long they take. No version is deleted
unless the version that replaces it is committed in the same transaction.
"""

import contextlib
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TypeAlias

from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.domain.backup_guards import find_strictest
from frepo_core.domain.identity import Identity
from frepo_core.domain.mime_types import is_allowed_by_token
from frepo_core.errors import (
    CollectionFullError,
    InvalidAnswerError,
    StorageFull,
    VersionTooBigError,
)
from frepo_core.plugins import IncomingVersion, VersionInfo
from frepo_core.settings import Settings

from ...access.tokens import consume_token
from ...base.idempotency import IdempotentUpload, RecordedAnswer, find_recorded_answer, look_up_answer, record_answer
from ...base.records import BlobRecord, CollectionRecord, collection_info
from ...content.blobs.lifecycle import Blobs
from ...content.checks.spooled_content import UploadTarget
from ...content.checks.upload_checks import CheckReport, UploadChecks, log_findings
from ...content.ingest import Incoming, Ingest, Limit
from ...events.recording import record
from ...events.refusals import Attempt, Refusals
from ...files.files import token_size_limit, type_not_allowed
from ..collections.collection_rows import find_collection, lock_collection
from ..rotation.added_rows import AddedRows, Uploaded, check_last_number
from ..rotation.decision import decide
from ..rotation.questions import Question
from ..rotation.stored_state import find_objection, read_state
from ..rotation.strategies import Strategies, StrategyAnswer
from ..trash.arrivals import KEPT, Arrivals
from ..trash.version_room import VersionRoom
from .addition import AddedVersion, Committed, addition_events, check_of, log_addition, objections_of
from .version_checks import insert_checks

__all__ = ["AddVersion", "AddedVersion", "VersionUpload"]

# An answer of the strategy that is older is not used: a day may have ended since.
FRESH = timedelta(seconds=1)
VersionUpload: TypeAlias = IdempotentUpload[AddedVersion]


class AddVersion:
    """Adds versions to collections. The module's docstring lists the steps."""

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
    ) -> None:
        self._arrivals = arrivals
        self._database = database
        self._strategies = strategies
        self._ingest = ingest
        self._blobs = blobs
        self._checks = checks
        self._refusals = refusals
        self._rows = AddedRows(strategies.plugins, settings)

    def add(
        self,
        collection: CollectionRecord,
        incoming: Incoming,
        *,
        by: Identity,
        after: int | None = None,
        idempotency: VersionUpload | None = None,
        is_decided: bool = False,
        room: VersionRoom | None = None,
    ) -> AddedVersion | RecordedAnswer:
        """Add a version, or return the answer that was recorded for the same Idempotency-Key.

        `collection` is as it was when the upload began: if versions of uploads of the same client that began later have
        arrived since, this one was given up, and its version is put into quarantine.
        `after` requires that the last accepted version has this number (`If-Match`). `is_decided` says that the caller
        has called `check` for this upload already, before the content arrived. `room` is what the body has used
        meanwhile.

        Raises `RuleError`, also for a check that refuses the content, `TooBigError`, `TypeNotAllowedError`,
        `VersionConflictError` or `IdempotencyConflictError`. Nothing has changed then.
        """
        size = incoming.declared_size
        with self._refusals.recorded(collection, by=by, size=size) as attempt:
            early = None
            if idempotency is None and not is_decided:
                early = self.check(collection, size or 0, after=after)
            with contextlib.closing(room or self._arrivals.room(collection.id, by)) as own:
                return self._add(
                    collection, incoming, attempt, own, by=by, after=after, idempotency=idempotency, early=early
                )

    def _add(
        self,
        collection: CollectionRecord,
        incoming: Incoming,
        attempt: Attempt,
        room: VersionRoom,
        *,
        by: Identity,
        after: int | None,
        idempotency: VersionUpload | None,
        early: StrategyAnswer | None,
    ) -> AddedVersion | RecordedAnswer:
        with self._ingest.read(incoming, self.limits(collection, by=by)) as content:
            attempt.size = content.size
            if not is_allowed_by_token(by, content.mime):
                raise type_not_allowed(content.mime)
            recorded = look_up_answer(self._database, idempotency, content.digest, by)
            if recorded and not recorded.is_damaged:
                return recorded
            target = UploadTarget(file_name=collection.filename, collection=collection_info(collection))
            reports = [] if recorded else self._checks.run(content, target)
            question = self._question(collection, content.size, reports, early)
            uploaded = Uploaded(by=by, noted=collection.last_number, after=after, reports=reports)
            unused: list[int] = []

            def work(session: Session, blob: BlobRecord) -> Committed | RecordedAnswer:
                row = lock_collection(session, collection.id)
                if recorded := find_recorded_answer(session, idempotency, content.digest, by):
                    unused.append(blob.id)  # the version that used it may have been removed
                    return recorded
                consume_token(session, by)
                changes = self._rows.write(session, row, blob, uploaded, question)
                if changes.added.version.is_quarantined and room.is_low and not room.has_taken:
                    raise StorageFull(KEPT)
                record(session, *addition_events(changes, by))
                insert_checks(session, changes.added.version, [check_of(report) for report in reports], by=by)
                version = changes.added.version
                record_answer(session, idempotency, content.digest, by, changes.added, version.file, version.id)
                return changes

            def may_make() -> bool:
                return self.check(collection, content.size, after=after, reports=reports) is not None

            committed = self._blobs.store(content, work, by=by, room=room, may_make=may_make, around=question.settle)
        if isinstance(committed, RecordedAnswer):
            self._blobs.collect(unused)
            return committed
        self._blobs.collect(committed.removed.released_blob_ids)
        log_addition(committed, by, self._strategies.plugins)
        log_findings(f"collection {collection.id}: version {committed.added.version.number}", reports)
        return committed.added

    def limits(self, collection: CollectionRecord, *, by: Identity) -> tuple[Limit, ...]:
        """Return the limits for the size of one version: the token's and the collection's."""
        return (
            token_size_limit(by),
            Limit(size=collection.limits.one, refuse=VersionTooBigError),
            Limit(size=collection.limits.total, refuse=CollectionFullError),
        )

    def check(
        self,
        collection: CollectionRecord,
        size: int,
        *,
        after: int | None,
        reports: Sequence[CheckReport] | None = None,
    ) -> StrategyAnswer | None:
        """Refuse a version of `size` bytes before its content is read; 0 stands for an unknown size.

        With `reports` of the upload checks, decide as the write transaction will: that is asked before the trash gives
        way to a content.

        Without them, do not call this for an upload with an Idempotency-Key: if it is a repetition, its recorded answer
        is due, even if a new version would be refused. Returns the answer of the strategy, None if it was not
        asked, because the version would be put into quarantine. Raises `RuleError` or `VersionConflictError`.
        """
        now = utc_now()
        # The caller read `collection` earlier: versions may have been added or deleted since.
        plugins = self._strategies.plugins
        with self._database.reading(is_snapshot=True) as session:
            current = CollectionRecord.of(find_collection(session, collection.id))
            check_last_number(current, after)
            state = read_state(session, plugins, current, now=now, reading=self._database.reading)
            # A version that is put into quarantine needs no room. An unknown size says nothing yet.
            asks_guards = reports is not None or (size and current.guards.action == "quarantine")
            guard = find_objection(session, current, size) if asks_guards else None
        objection = find_strictest(objections_of(guard, reports or ()))
        incoming = _incoming(current, size)
        answers: list[StrategyAnswer] = []

        def ask() -> Sequence[VersionInfo]:
            answers.append(self._strategies.ask_about(current, state, incoming, at=now))
            return answers[0].get()

        with suppress(InvalidAnswerError):  # the answer to the question with the final size counts
            decide(plugins, state, incoming, objection=objection, ask=ask)
        return answers[0] if answers else None

    def _question(
        self, collection: CollectionRecord, size: int, reports: Sequence[CheckReport], early: StrategyAnswer | None
    ) -> Question:
        """Return the question to the strategy about a version of this size. An early answer may be still true."""
        is_early = early is not None and early.incoming.size == size and utc_now() - early.at < FRESH

        def make_incoming(session: Session, current: CollectionRecord) -> IncomingVersion | None:
            return None if any(report.quarantines for report in reports) else _incoming(current, size)

        return Question(self._strategies, collection.id, make_incoming, answer=early if is_early else None)


def _incoming(collection: CollectionRecord, size: int) -> IncomingVersion:
    return IncomingVersion(size=size, created_at=utc_now(), number=collection.last_number + 1)
