"""Writes the events of collections whose backup is overdue, and of those that have recovered, once each."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, case, func, or_, select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.json_expressions import iso_text
from frepo_core.db.models import Collection
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Actor
from frepo_core.domain.structs import struct

from ..backups.collections.states import has_sent_nothing, is_overdue
from ..events.recording import record_for_collections

BATCH = 1000


@struct
class _Turn:
    """A change of collections: which ones change, their event with its data, and what they are marked with then."""

    condition: ColumnElement[bool]
    kind: EventKind
    data: Mapping[str, ColumnElement[Any]]
    reported: Any


_HAS_ARRIVED = Collection.arrived_at > Collection.reported_overdue_at
_GOOD_UNTIL = func.coalesce(Collection.arrived_at, Collection.created_at, type_=Collection.created_at.type)
# What keeps good backups away, if that is known; null if they only do not come.
_CAUSE = case(
    (Collection.failed_since > _GOOD_UNTIL, func.coalesce(Collection.failed_reason, "the newest backup has failed")),
    (Collection.full_since > _GOOD_UNTIL, "there is no room for a new version"),
    (Collection.suspicious_since > _GOOD_UNTIL, "the newest version is suspicious"),
    (has_sent_nothing(), "nothing has ever been sent"),
)
_REASON = case((_HAS_ARRIVED, "a version arrived"), else_="the expectation was changed")


def report_overdue(
    database: Database, *, now: datetime, by: Actor, keep_going: Callable[[], None] = lambda: None
) -> dict[str, int]:
    """Write the events that are due at `now`; return their numbers.

    A collection is reported when its grace has ended, and again only after it has recovered. It recovers when a version
    arrives, or when an edit moves the deadline. `keep_going` is called before each batch.
    """
    is_reported = Collection.reported_overdue_at.is_not(None)
    # The next deadline may have passed, too, if no worker ran.
    has_recovered = or_(Collection.overdue_at.is_(None), Collection.overdue_at > now, _HAS_ARRIVED)
    recovered = _Turn(
        condition=is_reported & has_recovered,
        kind=EventKind.COLLECTION_RECOVERED,
        data={
            "overdue_since": iso_text(Collection.reported_overdue_at),
            "last_arrival": iso_text(Collection.arrived_at),
            "reason": _REASON,
        },
        reported=None,
    )
    overdue = _Turn(
        condition=is_overdue(now) & ~is_reported,
        kind=EventKind.COLLECTION_OVERDUE,
        data={
            "expected_every": Collection.expected_every.expression,
            "due_at": iso_text(Collection.due_at),
            "overdue_at": iso_text(Collection.overdue_at),
            "last_arrival": iso_text(Collection.arrived_at),
            "cause": _CAUSE,
        },
        reported=Collection.overdue_at,
    )
    found = {"recovered": _in_batches(database, recovered, by, keep_going)}
    return found | {"overdue": _in_batches(database, overdue, by, keep_going)}


def _in_batches(database: Database, turn: _Turn, by: Actor, keep_going: Callable[[], None]) -> int:
    """Write an event for each collection of the turn, in short transactions, so that no upload waits long."""
    total = 0
    while True:
        keep_going()
        # A read first: on most turns there is nothing to write, and SQLite has one writer at a time.
        with database.reading() as session:
            query = select(Collection.id).where(turn.condition).order_by(Collection.id).limit(BATCH)
            ids = session.scalars(query).all()
        if not ids:
            return total
        written = database.write(partial(_write, ids=ids, turn=turn, by=by))
        total += written
        if not written:  # all of them have changed meanwhile
            return total


def _write(session: Session, *, ids: Sequence[str], turn: _Turn, by: Actor) -> int:
    """Write the events of those that still fulfil the condition. Statements for all of them, not one for each."""
    lock = select(Collection.id).where(Collection.id.in_(ids), turn.condition).order_by(Collection.id)
    locked = session.scalars(lock.with_for_update()).all()
    if not locked:
        return 0
    which = Collection.id.in_(locked)
    record_for_collections(session, turn.kind, turn.data, which, by=by)
    done = update(Collection).where(which).values(reported_overdue_at=turn.reported)
    session.execute(done, execution_options={"synchronize_session": False})
    return len(locked)
