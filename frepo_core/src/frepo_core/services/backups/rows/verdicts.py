"""The verdicts of versions in the database, and what they say about their collection: whether its last night failed."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Collection, Content, File, Version, VersionCheck
from frepo_core.domain.backups.guards import Objection
from frepo_core.domain.backups.verdicts import GOOD, CheckFact, Judgement, Verdict, judge, shorten
from frepo_core.domain.identity import By
from frepo_core.errors import RuleError

from ...content.objects.uses import is_lost
from ...events.actors import actor_of
from .expected_backups import set_deadline
from .quarantine import CONDEMNED, OVERTAKEN

if TYPE_CHECKING:  # commands that show verdicts need not import what receives uploads
    from ...content.checks.upload_checks import CheckReport

NEWEST_BROKEN = "The newest version is broken"
BAD = CONDEMNED
NOTHING_KNOWN = Judgement(verdict=Verdict.UNCHECKED)


def is_good() -> ColumnElement[bool]:
    """Return the condition that a version is a good backup, as far as is known: also not in quarantine."""
    return Version.verdict.in_([verdict.value for verdict in GOOD]) & ~Version.is_quarantined


def judge_reports(reports: "Sequence[CheckReport]", objection: Objection | None = None) -> Judgement:
    """Return the verdict about a content that arrives, from the upload checks and what a guard objects to."""
    facts = [CheckFact(name=one.check, outcome=one.outcome, message=one.message, covers=one.covers) for one in reports]
    return judge(facts, objection="" if objection is None or objection.check else reason_of(objection.error))


def judge_again(session: Session, version: Version) -> Judgement:
    """Set the verdict about a version from what is stored about it, and return it."""
    stored = select(VersionCheck).where(VersionCheck.version_id == version.id).order_by(VersionCheck.name)
    rows = session.scalars(stored).all()
    if version.verdict == Verdict.BROKEN and version.verdict_reason is None:
        # Migration 0028 has set this verdict, from results that do not say yet that they are of the service.
        for row in rows:
            row.is_of_service = row.is_of_service or row.outcome == Verdict.BROKEN
    facts = [
        CheckFact(
            name=row.name,
            outcome=row.outcome,
            message=row.message,
            covers=row.covers,
            at=row.at,
            is_of_service=row.is_of_service or ":" in row.actor,
        )
        for row in rows
    ]
    judgement = judge(facts, objection=_stored_objection(version), released_at=version.released_at)
    version.verdict, version.verdict_reason = judgement.verdict.value, judgement.reason or None
    return judgement


def release(session: Session, version: Version, by: By) -> None:
    """Note that a person has released the version. What was found before does not count when it is judged again.

    A clock that was ahead has dated findings later than now: they are from before, too.
    """
    now = utc_now()
    ahead = (VersionCheck.version_id == version.id) & (VersionCheck.at > now)
    session.execute(update(VersionCheck).where(ahead).values(at=now))
    version.released_at, version.released_by = now, actor_of(by)
    version.condemned_at = None
    version.is_suspicious = False


def find_newest_good(session: Session, collection_id: str) -> Version | None:
    """Return the newest good version whose bytes are not damaged, with its file; None if there is none."""
    query = select(Version).join(File, File.id == Version.file_id).join(Content, Content.id == File.content_id)
    query = query.where(Version.collection_id == collection_id, is_good(), ~is_lost())
    return session.scalar(query.order_by(Version.number.desc()).limit(1))


def is_bad(verdict: Verdict) -> bool:
    """Return whether the verdict speaks against a version: it is neither good nor pending."""
    return verdict in BAD


def note_failed(collection: Collection, reason: str | None, *, at: datetime) -> None:
    """Note that the newest backup failed, until the next good one arrives."""
    collection.failed_since, collection.failed_reason = at, shorten(reason or NEWEST_BROKEN)


def note_verdict(collection: Collection, judgement: Judgement, *, at: datetime) -> None:
    """Note what the verdict about the newest version says about its collection. A pending one says nothing yet."""
    if judgement.verdict is Verdict.BROKEN:
        note_failed(collection, judgement.reason, at=at)
    elif judgement.verdict in GOOD:
        collection.failed_since = collection.failed_reason = None
    collection.suspicious_since = at if judgement.verdict is Verdict.SUSPICIOUS else None


def note_newest(session: Session, collection: Collection, over: Sequence[datetime | None] = ()) -> None:
    """Note the same again after a change: the newest version says it. Those that were overtaken say nothing.

    `over` are times, see `failures_of`: what had failed then is over. A failed run stays.
    """
    query = select(Version.created_at, Version.verdict, Version.verdict_reason).where(
        Version.collection_id == collection.id, func.coalesce(Version.quarantine_reason, "") != OVERTAKEN
    )
    newest = session.execute(query.order_by(Version.number.desc()).limit(1)).first()
    if collection.failed_since is not None and collection.failed_since in over:
        collection.failed_since = collection.failed_reason = None
    if newest is None:
        collection.suspicious_since = None
        return
    judgement = Judgement(verdict=Verdict(newest.verdict), reason=newest.verdict_reason or "")
    failed = collection.failed_since, collection.failed_reason
    note_verdict(collection, judgement, at=newest.created_at)
    if failed[0] is not None and failed[0] > newest.created_at:
        collection.failed_since, collection.failed_reason = failed


def failures_of(version: Version) -> Sequence[datetime | None]:
    """Return when a collection has failed because of the version, if it has. Ask before it is deleted or released."""
    return (version.created_at, version.quarantined_at, version.condemned_at)


def reason_of(error: RuleError) -> str:
    """Return why a guard objects, for a person."""
    return error.explanation or str(error)


def _stored_objection(version: Version) -> str:
    """Return why a guard found the version suspicious when it arrived; empty if none did or a person released it."""
    reason = version.quarantine_reason or ""
    is_of_guard = bool(version.is_suspicious) and not reason.startswith("check ") and reason != OVERTAKEN
    return (version.verdict_reason or reason or "A guard of the collection objects") if is_of_guard else ""


def set_arrived_again(session: Session, collection: Collection) -> None:
    """Set the last arrival, and the deadline that follows, after a version was condemned: it counts as not arrived."""
    arrived = ~Version.is_quarantined & Version.verdict.in_([verdict.value for verdict in (*GOOD, Verdict.PENDING)])
    query = select(func.max(Version.created_at)).where(Version.collection_id == collection.id, arrived)
    collection.arrived_at = session.scalar(query)
    set_deadline(collection)
