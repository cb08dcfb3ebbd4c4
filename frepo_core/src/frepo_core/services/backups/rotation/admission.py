"""Decides about an incoming version: early, before its content is stored, and again in the transaction that adds it."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime

from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection, Version
from frepo_core.domain.backups.guards import Objection, find_strictest
from frepo_core.domain.backups.verdicts import Judgement, Verdict
from frepo_core.domain.structs import struct
from frepo_core.errors import DuplicateVersionError, InvalidAnswerError, UploadCheckError, VersionConflictError
from frepo_core.plugins import IncomingVersion
from frepo_core.settings import Settings

from ...base.records import BlobRecord, CollectionRecord
from ...content.checks.upload_checks import CheckReport
from ..rows.collection_rows import read_collection
from ..rows.quarantine import OVERTAKEN
from ..rows.removal import TrashReason
from ..rows.verdicts import NOTHING_KNOWN, is_bad, judge_reports
from ..rows.version_rows import find_evicted, find_pending_surplus, find_surplus, has_content
from ..rows.version_values import NO_VALUES, VersionValues
from .content_guards import Arrival, find_objection
from .counting import count_surplus
from .decision import Decision, decide
from .evictable_versions import read_state
from .questions import Question
from .strategies import Strategies, StrategyAnswer


@struct
class Admission:
    """What was decided about a version; `objection` is what its content, the `arrival`, is suspicious for."""

    decision: Decision
    objection: Objection | None
    is_overtaken: bool
    judgement: Judgement
    arrival: Arrival

    @property
    def quarantine_reason(self) -> str | None:
        """Why the version is put into quarantine; None if it is not."""
        if self.is_overtaken:
            return OVERTAKEN
        return self.objection.reason if self.objection and self.decision.is_quarantined else None


class VersionRules:
    """The rules for incoming versions, with the settings that they depend on."""

    def __init__(self, database: Database, strategies: Strategies, settings: Settings) -> None:
        self.strategies = strategies
        self.keep = settings.trash_keep
        self.refuses_duplicates = settings.backup_duplicate_versions == "refuse"
        self._database = database
        self._quarantine_max = settings.quarantine_max

    def refuse_early(
        self,
        collection: CollectionRecord,
        size: int,
        *,
        after: int | None,
        reports: Sequence[CheckReport] | None = None,
        values: VersionValues = NO_VALUES,
    ) -> StrategyAnswer | None:
        """Raise what refuses a version of `size` bytes before its content is stored; 0 stands for an unknown size.

        With `reports` of the upload checks, decide as the write transaction will: that is asked before the trash gives
        way to a content. `after` is the number that the last version must have (`If-Match`).
        Do not ask about an upload with an Idempotency-Key: if it is a repetition, its recorded answer is due, even if a
        new version would be refused.

        Returns the answer of the strategy; None if it was not asked, because the version would be put into quarantine.
        Raises `RuleError` or `VersionConflictError`.
        """
        now = utc_now()
        plugins = self.strategies.plugins
        # The caller read `collection` earlier: versions may have been added or deleted since.
        with self._database.reading(is_snapshot=True) as session:
            current = values.guarded(read_collection(session, collection.id))
            _check_last_number(current, after)
            state = read_state(session, plugins, current, now=now, reading=self._database.reading)
            # A version that is put into quarantine needs no room. An unknown size says nothing yet.
            asks_guards = reports is not None or (size and current.guards.action == "quarantine")
            arrival = Arrival.of(size, now, reports or ())
            guard = find_objection(session, current, arrival) if asks_guards else None
        objection = _find_strictest(guard, reports or ())
        incoming = IncomingVersion(size=size, created_at=now, number=current.last_number + 1)
        answer = None
        if objection is None or objection.action not in {"refuse", "quarantine"}:
            answer = self.strategies.ask_about(current, state, incoming, at=now)
        with suppress(InvalidAnswerError):  # the answer to the question with the final size counts
            decide(plugins, state, incoming, objection=objection, ask=answer.get if answer else None)
        return answer

    def judge(
        self,
        session: Session,
        row: Collection,
        blob: BlobRecord,
        incoming: IncomingVersion,
        question: Question,
        *,
        after: int | None,
        reports: Sequence[CheckReport],
        is_overtaken: bool,
        values: VersionValues,
    ) -> Admission:
        """Decide about a version. The collection is locked, and the strategy was asked before.

        Raises `VersionConflictError`, a `RuleError` that refuses the version, or `OutdatedDecisionError`.
        """
        collection = values.guarded(CollectionRecord.of(row))
        _check_last_number(collection, after)
        if self.refuses_duplicates and has_content(session, row.id, blob):
            raise DuplicateVersionError()
        plugins = self.strategies.plugins
        arrival = Arrival.of(blob.size, incoming.created_at, reports, blob.digest)
        guard = find_objection(session, collection, arrival)
        objection = _find_strictest(guard, reports)
        # Guards say nothing about the content of an upload that was overtaken.
        judgement = judge_reports(reports, None if is_overtaken else guard) if reports or guard else NOTHING_KNOWN
        at = question.answer.at if question.answer else incoming.created_at
        state = read_state(session, plugins, collection, now=at, spares_good=question.spares_good)
        decision = decide(
            plugins,
            state,
            incoming,
            objection=objection,
            is_overtaken=is_overtaken,
            is_pending=judgement.verdict is Verdict.PENDING,
            ask=question.ask_in(collection, state),
        )
        return Admission(
            decision=decision,
            objection=None if is_overtaken else objection,
            is_overtaken=is_overtaken,
            judgement=judgement,
            arrival=arrival,
        )

    def find_leaving(
        self, session: Session, row: Collection, admission: Admission, now: datetime
    ) -> tuple[Sequence[Version], TrashReason]:
        """Return the versions that leave, and why.

        A version in quarantine evicts none but older ones there, and a pending one none but older pending ones. Of
        these, limits count those from now on that they have room for.
        """
        decision, keep = admission.decision, self._quarantine_max - 1
        if decision.is_quarantined:
            # A whole version that was overtaken takes the place of none.
            is_judged = admission.is_overtaken and not is_bad(admission.judgement.verdict)
            keep += is_judged
            surplus = find_surplus(session, row, keep=keep, of_overtaken=admission.is_overtaken)
            return surplus, TrashReason.QUARANTINE_SURPLUS
        if decision.waits:
            count_surplus(session, row, keep=keep)
            return find_pending_surplus(session, row, keep=keep, now=now), TrashReason.UNJUDGED_SURPLUS
        return find_evicted(session, row, decision.evicted, now=now), TrashReason.EVICTED


def _find_strictest(guard: Objection | None, reports: Sequence[CheckReport]) -> Objection | None:
    return guard if not reports else find_strictest(_objections(guard, reports))


def _objections(guard: Objection | None, reports: Sequence[CheckReport]) -> Iterator[Objection]:
    """Yield what the upload checks and the guards object to. A finding that only marks the version is no objection.

    Checks come first: a dump that was cut is smaller than the others, too.
    """
    for report in reports:
        if report.quarantines:
            error = UploadCheckError(context={"check": report.check, "message": report.message})
            yield Objection(error=error, action="quarantine", check=report.check)
    if guard is not None:
        yield guard


def _check_last_number(collection: CollectionRecord, number: int | None) -> None:
    """Check what an upload requires (`If-Match`); None requires nothing. Raises `VersionConflictError`."""
    if number is not None and number != collection.last_number:
        raise VersionConflictError(
            f"The last version is v{collection.last_number}, not v{number}: another came first",
            context={"last_version": collection.last_number},
        )
