"""The write path of one version."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TypeAlias

from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Collection
from frepo_core.domain.identity import Identity
from frepo_core.domain.structs import struct
from frepo_core.errors import StorageFull
from frepo_core.plugins import IncomingVersion

from ...access.single_upload_tokens import consume_token
from ...base.failpoints import hit
from ...base.idempotency import IdempotentUpload, RecordedAnswer
from ...base.records import BlobRecord, CollectionRecord, VersionRecord, collection_info
from ...content.blobs.lifecycle import Blobs
from ...content.blobs.upload_transaction import UploadTransaction
from ...content.checks.spooled_content import UploadTarget
from ...content.checks.upload_checks import CheckReport, UploadChecks
from ...content.ingest import Content
from ...events.recording import record
from ..rotation.admission import Admission, VersionRules
from ..rotation.content_guards import note_arrival
from ..rotation.overtaken import Sending, find_sender, is_given_up, note_accepted
from ..rotation.questions import Question
from ..rotation.strategies import StrategyAnswer
from ..rows.collection_rows import lock_collection
from ..rows.quarantine import describe_nights
from ..rows.removal import move_to_trash
from ..rows.verdicts import is_bad, judge_reports
from ..rows.version_rows import insert_version
from ..rows.version_values import NO_VALUES, VersionValues
from ..trash.arrivals import HELD, KEPT
from ..trash.version_room import VersionRoom
from .addition import AddedVersion, Committed, addition_events, check_of
from .version_checks import insert_checks

# An answer of the strategy that is older is not used: a day may have ended since.
FRESH = timedelta(seconds=1)

IdempotentVersion: TypeAlias = IdempotentUpload[AddedVersion]


@struct
class UploadOptions:
    """How a version is uploaded.

    - `after` requires that the last accepted version has this number (`If-Match`).
    - `idempotency`: its Idempotency-Key.
    - `is_decided`: the caller has called `VersionRules.refuse_early` already, before the content arrived.
    - `room` is what the body has used meanwhile.
    - `vouched` is what the client says about the content.
    - `sending` says how the content was sent; None: the upload begins now. If its client gave it up, and newer ones of
      this client have arrived since, its version is put into quarantine.
    - `values` are chosen for the version.
    - `host` is the name of the client's host, if it says that.
    """

    after: int | None = None
    idempotency: IdempotentVersion | None = None
    is_decided: bool = False
    room: VersionRoom | None = None
    vouched: CheckReport | None = None
    sending: Sending | None = None
    values: VersionValues = NO_VALUES
    host: str = ""


class VersionUpload(UploadTransaction[Committed]):
    """The upload of a version to `collection`, which is as it was when the upload began.

    Call `check_content` before `store`.
    """

    def __init__(
        self,
        blobs: Blobs,
        rules: VersionRules,
        content: Content,
        room: VersionRoom,
        collection: CollectionRecord,
        options: UploadOptions,
        *,
        by: Identity,
        sending: Sending,
        early: StrategyAnswer | None,
    ) -> None:
        """`early` is the answer of the strategy before the content was read; None if it was not asked."""
        super().__init__(blobs, content, room, storage=collection.storage, by=by, idempotency=options.idempotency)
        self.reports: Sequence[CheckReport] = ()
        self._rules = rules
        self.collection = collection
        self._options = options
        self._values = options.values
        self._sending = replace(sending, host=options.host) if options.host else sending
        self._early = early
        self._version_room = room
        self._question = Question(rules.strategies, collection.id, self._incoming)

    def check_content(self, checks: UploadChecks) -> None:
        """Run the upload checks; what the client says is a further result. Raises `UploadCheckError`."""
        if not self.is_repetition:
            target = UploadTarget(file_name=self.collection.filename, collection=collection_info(self.collection))
            vouched = [self._options.vouched] if self._options.vouched else []
            self.reports = (*checks.run(self.content, target), *vouched)
            self._question.spares_good = bool(self.reports) and is_bad(judge_reports(self.reports).verdict)

    def refuse_early(self) -> bool:
        """Raise what refuses the version. Return whether the trash may give way to it: not to one in quarantine."""
        return (
            self._rules.refuse_early(
                self.collection,
                self.content.size,
                after=self._options.after,
                reports=self.reports,
                values=self._values,
            )
            is not None
        )

    def transact(self) -> Committed | RecordedAnswer:
        """Ask the strategy, then run the transaction; both again if the collection has changed since."""
        self._use_early_answer()
        return self._question.settle(super().transact)

    def write_rows(self, session: Session, blob: BlobRecord) -> Committed | RecordedAnswer:
        """Lock the collection, decide, move the versions that leave into the trash, insert the new one.

        Raises `RuleError`, `VersionConflictError`, `StorageFull`, or `AccessDeniedError` if the token was used up.
        """
        row = lock_collection(session, self.collection.id)
        if recorded := self.find_recorded_now(session, blob):
            return recorded
        self.require_storage(row.storage)
        blob = self.want_copy(session, blob, row.mirror)
        consume_token(session, self.by)
        incoming = IncomingVersion(size=blob.size, created_at=utc_now())
        admission = self._admit(session, row, blob, incoming)
        committed = self._replace(session, row, blob, incoming, admission)
        version = committed.added.version
        checked = insert_checks(session, version, [check_of(report) for report in self.reports], by=self.by)
        record(session, *addition_events(committed, self.by), *checked)
        self.record_answer(session, committed.added, version.file, version.id)
        self.unused = [*committed.removed.released_content_ids]
        return committed

    def _admit(self, session: Session, row: Collection, blob: BlobRecord, incoming: IncomingVersion) -> Admission:
        """Decide about the version. An accepted one overtakes what its client has sent before and given up."""
        sender, sending = find_sender(session, row, self.by), self._sending
        admission = self._rules.judge(
            session,
            row,
            blob,
            incoming,
            self._question,
            after=self._options.after,
            reports=self.reports,
            is_overtaken=sender is not None
            and sender.noted > sending.noted
            and is_given_up(session, row, sender, blob, sending, self.by),
            values=self._values,
        )
        if not admission.quarantine_reason:
            note_accepted(session, row, sender, sending, self.by)
        is_kept = self._version_room.is_low and not self._version_room.has_taken
        if is_kept and (row.held_since is not None or admission.quarantine_reason):
            raise StorageFull(KEPT if row.held_since is None else HELD)
        return admission

    def _replace(
        self, session: Session, row: Collection, blob: BlobRecord, incoming: IncomingVersion, admission: Admission
    ) -> Committed:
        """Move the versions that leave into the trash, and insert the new one."""
        now, reason, judgement = incoming.created_at, admission.quarantine_reason, admission.judgement
        leaving, why = self._rules.find_leaving(session, row, admission, now)
        evicted = list(map(VersionRecord.of, leaving))
        removed = move_to_trash(session, row, leaving, reason=why, by=self.by, keep=self._rules.keep, now=now)
        hit("versions_deleted")
        version = insert_version(
            session,
            row,
            blob,
            incoming,
            judgement=judgement,
            is_suspicious=admission.objection is not None,
            waits=admission.decision.waits,
            quarantine_reason=reason,
            by=self.by,
            values=self._values,
        )
        change = ""
        if not admission.is_overtaken and self._values.is_compared(self.collection):
            change = note_arrival(row, admission.arrival, admission.objection, judgement.verdict)
        return Committed(
            added=AddedVersion(version=version, collection=CollectionRecord.of(row)),
            is_quarantined=bool(reason),
            objection=admission.objection,
            evicted=evicted,
            removed=removed,
            why=why,
            nights=describe_nights(row, reason, judgement.verdict) if reason else {},
            change=change,
        )

    def _use_early_answer(self) -> None:
        """Use what was read early, if that was a moment ago. If the size was not known then, ask about it now."""
        early, self._early = self._early, None
        if early is None or utc_now() - early.at >= FRESH or self._question.spares_good:
            return
        if early.incoming.size != self.content.size:
            if self._is_quarantined_by_check():
                return
            incoming = replace(early.incoming, size=self.content.size)
            early = self._rules.strategies.ask_about(early.collection, early.state, incoming, at=early.at)
        self._question.answer = early

    def _incoming(self, session: Session, collection: CollectionRecord) -> IncomingVersion | None:
        """Return what the strategy is asked about; None for a version that is put into quarantine."""
        if self._is_quarantined_by_check():
            return None
        return IncomingVersion(size=self.content.size, created_at=utc_now(), number=collection.last_number + 1)

    def _is_quarantined_by_check(self) -> bool:
        return any(report.quarantines for report in self.reports)
