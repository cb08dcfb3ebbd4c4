"""What checks of the service find about versions that have arrived already, and what follows from it.

A pending version is rotated in, or put into quarantine. One that was accepted never leaves its collection for it: it is
condemned, which takes it out of `latest`, `first` and `good`. If the newest good version of the collection is in its
trash then, it is given back.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Literal

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection, Event, Version, VersionCheck
from frepo_core.domain.backups.content_kinds import ContentKind
from frepo_core.domain.backups.guards import Objection
from frepo_core.domain.backups.verdicts import Judgement, Verdict, shorten
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Actor, By
from frepo_core.errors import OutdatedDecisionError, TooManyCondemnedError
from frepo_core.plugins import IncomingVersion
from frepo_core.settings import Settings

from ...base.records import CollectionRecord, VersionRecord
from ...content.blobs.lifecycle import Blobs
from ...events.facts import version_event
from ...events.recording import NewEvent, record
from ..rotation.content_guards import compare_late
from ..rotation.counting import Rotated, Rotation
from ..rotation.questions import Question
from ..rotation.strategies import Strategies
from ..rows.locks import are_locked
from ..rows.quarantine import describe_nights, enter_quarantine
from ..rows.removal import TrashReason, eviction_events, move_to_trash
from ..rows.verdicts import failures_of, is_bad, judge_again, note_failed, note_newest, reason_of, set_arrived_again
from ..rows.version_rows import find_surplus, select_with_files
from ..trash.last_good import LastGood
from .version_checks import BROKEN, PENDING, NewCheck, log_check, write_checks

# A check that lacked time or memory is tried this often.
ATTEMPTS = 3
UNJUDGED = "unjudged"


class LateResults:
    """Records results of checks of the service."""

    def __init__(self, database: Database, settings: Settings, strategies: Strategies, blobs: Blobs) -> None:
        self._database = database
        self._strategies = strategies
        self._blobs = blobs
        self._keep = settings.trash_keep
        self._quarantine_max = settings.quarantine_max
        self._on_broken: Literal["quarantine", "mark"] = settings.checks_on_broken

    def record(
        self, version_id: str, check: NewCheck, *, by: By, along: Callable[[Session], None] = lambda session: None
    ) -> bool:
        """Record a result. Return False if the version was deleted meanwhile.

        `along` writes more in the same transaction, before the result; the collection is locked.
        Raises `TooManyCondemnedError` after the result was recorded as `not checked`, because the check of a job has
        condemned versions of too many collections within a day: then the check itself may be what is broken.
        """
        with self._database.reading() as session:
            collection_id = session.scalar(select(Version.collection_id).where(Version.id == version_id))
        if collection_id is None:
            return False
        question = question_about(self._strategies, collection_id, version_id)
        question.spares_good = check.outcome not in {"good", "not checked"}

        def transact() -> "_Late | None":
            return self._database.write(
                lambda session: self._write(session, collection_id, version_id, check, by, question, along)
            )

        done = question.settle(transact)
        if done is None:
            return False
        self._blobs.collect(done.released_content_ids)
        log_check(collection_id, done.number, done.check, by)
        if done.check.outcome != check.outcome and check.outcome == BROKEN:
            raise TooManyCondemnedError(check.name)
        return True

    def _write(
        self,
        session: Session,
        collection_id: str,
        version_id: str,
        check: NewCheck,
        by: By,
        question: Question,
        along: Callable[[Session], None],
    ) -> "_Late | None":
        """Record the result in a transaction, and do what follows. Raises `OutdatedDecisionError`."""
        # Blobs are locked before their collection.
        last_good = LastGood(session, collection_id) if question.spares_good else None
        collection = session.scalar(select(Collection).where(Collection.id == collection_id).with_for_update())
        row = session.scalar(select_with_files().where(Version.id == version_id))
        if collection is None or row is None:
            return None
        along(session)
        before = Verdict(row.verdict)
        check = _held_back(session, row, _tried_again(session, row, check), by)
        write_checks(session, row, [check], by=by)
        session.flush()
        judgement = judge_again(session, row)
        late = _Late(collection=collection, row=row, check=check, judgement=judgement, by=by, number=row.number)
        if before is Verdict.PENDING and judgement.verdict.is_good:
            self._compare(late)
        over = failures_of(row)
        if row.pending_since is not None:
            self._end_waiting(session, late, question)
        elif not row.is_quarantined and judgement.verdict is Verdict.BROKEN is not before:
            self._condemn(session, late)
        elif row.condemned_at is not None and judgement.verdict.is_good:
            row.condemned_at = None
            session.flush()
            set_arrived_again(session, collection)
        if is_bad(late.judgement.verdict) and last_good is not None:
            self._give_back(session, late, last_good)
        session.flush()
        note_newest(session, collection, over=over if judgement.verdict.is_good else ())
        if row.condemned_at is not None and late.is_condemned:
            note_failed(collection, judgement.reason, at=row.condemned_at)
        record(session, *late.events)
        return late

    def _compare(self, late: "_Late") -> None:
        """Compare the content with what the collection's guard expects, now that checks have looked at all of it."""
        row, check = late.row, late.check
        kind = None
        if check.kinds is not None:
            kind = ContentKind(kinds=check.kinds, database=check.database, verdict=late.judgement.verdict)
        late.objection, change = compare_late(late.collection, row, kind)
        if change:
            event = version_event(EventKind.VERSION_KIND_CHANGED, VersionRecord.of(row), by=late.by, message=change)
            late.events.append(event)
        if late.objection is not None:
            late.judgement = Judgement(verdict=Verdict.SUSPICIOUS, reason=shorten(reason_of(late.objection.error)))
            row.verdict, row.verdict_reason = late.judgement.verdict.value, late.judgement.reason
            row.is_suspicious = True

    def _end_waiting(self, session: Session, late: "_Late", question: Question) -> None:
        """Let rotation go on if there is a verdict."""
        verdict = late.judgement.verdict
        if verdict is Verdict.PENDING:
            return
        if is_bad(verdict) and not question.spares_good:
            question.spares_good = True
            raise OutdatedDecisionError("The strategy was asked about a good version, and it is none")
        quarantines = is_bad(verdict) and self._quarantines(late)
        if quarantines and not late.row.pinned:
            self._quarantine(session, late)
            return
        rotation = Rotation(session, late.collection, question, self._strategies.plugins, keep=self._keep, by=late.by)
        late.add(rotation.admit_judged(late.row))
        if quarantines and verdict is Verdict.BROKEN:  # a pinned one stays where it is
            self._condemn(session, late)

    def _quarantines(self, late: "_Late") -> bool:
        """Return whether a version that waited is put into quarantine now, unless it is pinned."""
        if late.check.message.startswith(UNJUDGED):
            return False
        action = late.objection.action if late.objection else late.check.on_finding or self._on_broken
        return action in {"quarantine", "refuse"}

    def _quarantine(self, session: Session, late: "_Late") -> None:
        row, collection, now = late.row, late.collection, utc_now()
        size, reason = row.file.blob.size, late.objection.reason if late.objection else f"check {late.check.name}"
        collection.pending_count -= 1
        collection.pending_size -= size
        row.pending_since = None
        row.quarantined_at, row.quarantine_reason, row.is_suspicious = now, reason, True
        enter_quarantine(collection, size, reason, now=now)
        session.flush()
        set_arrived_again(session, collection)
        message = late.judgement.reason if late.objection else late.check.message
        nights = describe_nights(collection, reason, Verdict(row.verdict))
        told = {"reason": reason, "message": message, **nights, "verdict": row.verdict}
        late.events.append(version_event(EventKind.VERSION_QUARANTINED, VersionRecord.of(row), by=late.by, **told))
        surplus = find_surplus(session, collection, keep=self._quarantine_max, of_overtaken=False)
        locked = are_locked(session, surplus)
        late.add(self._remove(session, late, [one for one, stays in zip(surplus, locked, strict=True) if not stays]))

    def _remove(self, session: Session, late: "_Late", rows: Sequence[Version]) -> Rotated:
        records, why = [VersionRecord.of(row) for row in rows], TrashReason.QUARANTINE_SURPLUS
        removed = move_to_trash(session, late.collection, rows, reason=why, by=late.by, keep=self._keep, now=utc_now())
        events = eviction_events(records, removed, by=late.by, reason=why.value, replaced_by=late.number)
        return Rotated(events=events, released_content_ids=[*removed.released_content_ids])

    def _condemn(self, session: Session, late: "_Late") -> None:
        """Note that an accepted version is broken. It stays."""
        row, collection = late.row, late.collection
        row.condemned_at = utc_now()
        late.is_condemned = True
        session.flush()
        set_arrived_again(session, collection)
        told = {"check": late.check.name, "message": late.check.message}
        late.events.append(version_event(EventKind.VERSION_CONDEMNED, VersionRecord.of(row), by=late.by, **told))

    def _give_back(self, session: Session, late: "_Late", last_good: LastGood) -> None:
        """Take the newest good version back from the trash if the collection holds no good one, or only older ones."""
        session.flush()
        returned = last_good.give_back(late.collection, keep=self._keep, by=Actor(name="system:verdicts"))
        if returned:
            self._blobs.want_copies(session, last_good.content_ids)
            late.events.append(returned)


@dataclass(kw_only=True)
class _Late:
    """What one transaction does about a version: the result as it is recorded, and what is to be told afterwards."""

    collection: Collection
    row: Version
    check: NewCheck
    judgement: Judgement
    by: By
    number: int
    events: list[NewEvent] = field(default_factory=list)
    released_content_ids: list[int] = field(default_factory=list)
    is_condemned: bool = False
    objection: Objection | None = None

    def add(self, rotated: Rotated) -> None:
        """Add what rotation has changed."""
        self.events += rotated.events
        self.released_content_ids += rotated.released_content_ids


def question_about(strategies: Strategies, collection_id: str, version_id: str) -> Question:
    """Return the question to the strategy about a version for which rotation waits."""
    query = select_with_files().where(Version.id == version_id, Version.pending_since.is_not(None))

    def make_incoming(session: Session, collection: CollectionRecord) -> IncomingVersion | None:
        row = session.scalar(query)
        return IncomingVersion(size=row.file.blob.size, created_at=row.created_at) if row else None

    return Question(strategies, collection_id, make_incoming, version_id=version_id)


def _tried_again(session: Session, row: Version, check: NewCheck) -> NewCheck:
    """Count an attempt in vain. The last one makes the version suspicious."""
    if check.outcome != PENDING:
        return check
    existing = session.get(VersionCheck, (row.id, check.name))
    if existing is None:
        return check
    existing.attempts = max(existing.attempts, check.attempts or existing.attempts + 1)
    if existing.attempts < ATTEMPTS:
        return check
    return replace(check, outcome="suspicious", message=f"{UNJUDGED} after {ATTEMPTS} attempts: {check.message}")


def _held_back(session: Session, row: Version, check: NewCheck, by: By) -> NewCheck:
    """Return the result as `not checked` if the check of a job has condemned too many versions already."""
    condemns = check.outcome == BROKEN and Verdict(row.verdict).is_good and not row.is_quarantined
    if not condemns or not isinstance(by, Actor) or not is_too_many(session, check.name, row.collection_id):
        return check
    message = f"{TooManyCondemnedError(check.name).message}. It said: {check.message}"
    return replace(check, outcome="not checked", message=message)


PERIOD = timedelta(days=1)
# One check may condemn versions of this many collections within a day, or of this share of those that it looked at.
COLLECTIONS = 3
SHARE = 0.2


def is_too_many(session: Session, check: str, collection_id: str) -> bool:
    """Return whether the check must not condemn a version of this collection, too."""
    start = utc_now() - PERIOD
    query = select(Event.collection_id, Event.data).where(
        Event.kind == EventKind.VERSION_CONDEMNED.value, Event.at > start
    )
    condemned = {found for found, data in session.execute(query) if data.get("check") == check} - {collection_id}
    if len(condemned) < COLLECTIONS:
        return False
    looked_at = select(func.count(Version.collection_id.distinct())).join(
        VersionCheck, VersionCheck.version_id == Version.id
    )
    number = session.scalar(looked_at.where(VersionCheck.name == check, VersionCheck.at > start)) or 0
    return len(condemned) >= number * SHARE
