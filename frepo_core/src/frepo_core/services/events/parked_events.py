"""Events that a subscriber could not handle: they are kept apart, so that later ones are delivered."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, exists, insert, select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Event, ParkedEvent, Subscription
from frepo_core.domain.structs import struct
from frepo_core.errors import NotFoundError
from frepo_core.plugins import Event as PublicEvent
from frepo_core.plugins import LeaseLost

from .queries import as_public_event
from .subscriptions import Cursor, update_of


@struct
class ParkedRecord:
    """A parked event. `id` is that of the event; `retry_at` is when a new try was requested, None if it was not."""

    subscriber: str
    id: int
    kind: str
    tries: int
    error: str
    parked_at: datetime
    retry_at: datetime | None


def list_parked(database: Database, subscriber: str | None = None) -> list[ParkedRecord]:
    """Return the parked events, the oldest first."""
    query = select(ParkedEvent).order_by(ParkedEvent.id)
    if subscriber:
        query = query.where(ParkedEvent.subscription == subscriber)
    with database.reading() as session:
        return [
            ParkedRecord(
                subscriber=row.subscription,
                id=row.event_id,
                kind=row.kind,
                tries=row.tries,
                error=row.error,
                parked_at=row.parked_at,
                retry_at=row.retry_at,
            )
            for row in session.scalars(query)
        ]


def request_retry(database: Database, ids: Sequence[int], subscriber: str | None = None) -> int:
    """Ask the worker to try parked events again; return how many. No ids: all of them.

    Raises `NotFoundError` if one of the events is not parked.
    """
    found = [each for each in list_parked(database, subscriber) if not ids or each.id in ids]
    if missing := set(ids) - {each.id for each in found}:
        message = f"No parked event has the number {min(missing)}"
        raise NotFoundError(message, remedy="`frepo events:parked` lists the parked events")
    if not found:
        return 0
    statement = update(ParkedEvent).where(ParkedEvent.event_id.in_({each.id for each in found}))
    if subscriber:
        statement = statement.where(ParkedEvent.subscription == subscriber)
    database.execute(statement.values(retry_at=database.now()))
    return len(found)


def park_event(database: Database, cursor: Cursor, event: PublicEvent, now: datetime) -> None:
    """Park the event that the cursor's error is about. The caller moves the cursor to the event.

    Raises `LeaseLost` if another worker leads.
    """
    values = {
        "subscription": cursor.name,
        "event_id": event.id,
        "kind": event.kind,
        "tries": cursor.tries,
        "error": cursor.error or "",
        "parked_at": now,
    }

    def work(session: Session) -> None:
        values_after = {"position": event.position, "tries": 0, "next_at": None, "error": None}
        moved = session.execute(update_of(cursor).values(values_after))
        if not moved.rowcount:  # type: ignore[attr-defined]  # of an UPDATE
            raise LeaseLost(f"another worker delivers to {cursor.name}")
        session.execute(insert(ParkedEvent), [values])

    database.write(work, may_use_reserve=True)
    cursor.saved = event.position


def fetch_requested(database: Database, subscriber: str) -> list[tuple[int, PublicEvent | None]]:
    """Return the parked events that shall be tried again, with the rows' ids; None for an event that was pruned."""
    query = (
        select(ParkedEvent.id, Event)
        .outerjoin(Event, Event.id == ParkedEvent.event_id)
        .where(ParkedEvent.subscription == subscriber, ParkedEvent.retry_at.is_not(None))
        .order_by(ParkedEvent.id)
    )
    with database.reading() as session:
        return [(row_id, as_public_event(event) if event else None) for row_id, event in session.execute(query)]


def end_retry(database: Database, row_id: int, epoch: int, error: str | None) -> None:
    """Remove a parked event that was handled now, or store why it was not. Changes nothing if another worker leads."""
    leads = exists().where(Subscription.name == ParkedEvent.subscription, Subscription.epoch == epoch)
    if error is None:
        database.execute(delete(ParkedEvent).where(ParkedEvent.id == row_id, leads))
    else:
        values = {"tries": ParkedEvent.tries + 1, "error": error, "retry_at": None}
        database.execute(update(ParkedEvent).where(ParkedEvent.id == row_id, leads).values(values))
