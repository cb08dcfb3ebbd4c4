"""The open one-time codes that a token has made: they end with its rights, whoever makes and redeems codes."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db.models import EnrolmentCode, EnrolmentCollection
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By

from ..events.recording import NewEvent, record


def collections_of(session: Session, code_id: str) -> list[str]:
    """Return the ids of the collections of a code that still exist."""
    query = select(EnrolmentCollection.collection_id).where(EnrolmentCollection.code_id == code_id)
    return list(session.scalars(query.order_by(EnrolmentCollection.collection_id)))


def code_events(
    kind: EventKind, row: EnrolmentCode, collections: Sequence[str], *, by: By, token: str | None = None, **data: str
) -> list[NewEvent]:
    """Return the events about a code, one for each of its collections."""
    values = {"enrolment": row.id, "name": row.name, **data}
    return [NewEvent(kind=kind, by=by, collection_id=one, token=token, data=values) for one in collections]


def end_codes_of(session: Session, fingerprints: Sequence[str], by: By) -> None:
    """Delete the open codes that tokens have made: a code of a revoked token would still make tokens."""
    for row in _lock_open_codes_of(session, fingerprints):
        record(session, *code_events(EventKind.ENROLMENT_REVOKED, row, collections_of(session, row.id), by=by))
        session.delete(row)


def shorten_codes_of(session: Session, fingerprints: Sequence[str], end: datetime) -> None:
    """Let the open codes that tokens have made end at `end` (aware): somebody else has given the tokens that end."""
    for row in _lock_open_codes_of(session, fingerprints):
        row.expires_at = min(row.expires_at, end)


def take_from_codes_of(session: Session, fingerprints: Sequence[str], collection_id: str, by: By) -> None:
    """Take a collection from the open codes of tokens that were taken off its list; a code without any other ends."""
    for row in _lock_open_codes_of(session, fingerprints):
        ids = collections_of(session, row.id)
        if collection_id in ids:
            record(session, *code_events(EventKind.ENROLMENT_REVOKED, row, [collection_id], by=by))
            session.delete(row if len(ids) == 1 else session.get_one(EnrolmentCollection, (row.id, collection_id)))


def _lock_open_codes_of(session: Session, fingerprints: Sequence[str]) -> Sequence[EnrolmentCode]:
    query = select(EnrolmentCode).where(EnrolmentCode.created_by.in_(fingerprints), EnrolmentCode.used_at.is_(None))
    return session.scalars(query.order_by(EnrolmentCode.id).with_for_update()).all()
