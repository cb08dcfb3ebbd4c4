"""Writes the events of collections whose backup is overdue, and of those that have recovered, once each."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, or_, select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Collection
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Actor

from ..events.facts import collection_event
from ..events.recording import NewEvent, record

BATCH = 1000
_COLUMNS = (
    Collection.id,
    Collection.expected_every,
    Collection.arrived_at,
    Collection.due_at,
    Collection.overdue_at,
    Collection.reported_overdue_at,
)


def report_overdue(
    database: Database, *, now: datetime, by: Actor, check: Callable[[], None] = lambda: None
) -> dict[str, int]:
    """Write the events that are due at `now`; return their numbers.

    A collection is reported when its grace has ended, and again only after it has recovered. It recovers when a version
    arrives, or when an edit moves the deadline. `check` is called before each batch.
    """
    is_overdue = Collection.overdue_at <= now
    is_reported = Collection.reported_overdue_at.is_not(None)
    # The next deadline may have passed, too, if no worker ran.
    has_recovered = or_(
        Collection.overdue_at.is_(None),
        Collection.overdue_at > now,
        Collection.arrived_at > Collection.reported_overdue_at,
    )
    recovered = _in_batches(database, is_reported & has_recovered, _recovered, by, check, reports=False)
    overdue = _in_batches(database, is_overdue & ~is_reported, _overdue, by, check, reports=True)
    return {"overdue": overdue, "recovered": recovered}


def _in_batches(
    database: Database,
    condition: ColumnElement[bool],
    make_event: Callable[[Any, Actor], NewEvent],
    by: Actor,
    check: Callable[[], None],
    *,
    reports: bool,
) -> int:
    """Write an event for each collection of the condition, in short transactions, so that no upload waits long."""
    total = 0
    while True:
        check()
        # A read first: on most turns there is nothing to write, and SQLite has one writer at a time.
        with database.reading() as session:
            ids = session.scalars(select(Collection.id).where(condition).order_by(Collection.id).limit(BATCH)).all()
        if not ids:
            return total
        work = partial(_write, ids=ids, condition=condition, make_event=make_event, by=by, reports=reports)
        written = database.write(work)
        total += written
        if not written:  # all of them have changed meanwhile
            return total


def _write(
    session: Session,
    *,
    ids: Sequence[str],
    condition: ColumnElement[bool],
    make_event: Callable[[Any, Actor], NewEvent],
    by: Actor,
    reports: bool,
) -> int:
    # Columns, not models: with 10,000 collections at once, that takes half the time.
    query = select(*_COLUMNS).where(Collection.id.in_(ids), condition).order_by(Collection.id).with_for_update()
    rows = session.execute(query).all()
    if not rows:
        return 0
    record(session, *(make_event(row, by) for row in rows))
    done = update(Collection).where(Collection.id.in_([row.id for row in rows]))
    session.execute(
        done.values(reported_overdue_at=Collection.overdue_at if reports else None),
        execution_options={"synchronize_session": False},
    )
    return len(rows)


def _overdue(row: Any, by: Actor) -> NewEvent:
    data = {"expected_every": row.expected_every, "due_at": _text(row.due_at), "overdue_at": _text(row.overdue_at)}
    data["last_arrival"] = _text(row.arrived_at)
    return collection_event(EventKind.COLLECTION_OVERDUE, row.id, by=by, **data)


def _recovered(row: Any, by: Actor) -> NewEvent:
    since = row.reported_overdue_at
    has_arrived = row.arrived_at is not None and since is not None and row.arrived_at > since
    data: dict[str, Any] = {"overdue_since": _text(since), "last_arrival": _text(row.arrived_at)}
    data["reason"] = "a version arrived" if has_arrived else "the expectation was changed"
    return collection_event(EventKind.COLLECTION_RECOVERED, row.id, by=by, **data)


def _text(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
