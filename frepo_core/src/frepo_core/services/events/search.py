"""Searches for events in the order of commits, newest first or after a position. Only numbered events are found."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, select, union_all
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Event
from frepo_core.plugins import Event as PublicEvent

from .queries import as_public_event, matching_kinds

# An event that was recorded so long before another one was committed before it, too.
LONGEST_TRANSACTION = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True)
class EventSearch:
    """What to look for. `kinds` are names or patterns such as `version.*`; none of them, or None, restricts nothing.

    `actor` is a token's fingerprint, `console:<user>`, `system:<job>` or `anonymous`. `since` is a time (aware).
    """

    kinds: Sequence[str] = ()
    collection_id: str | None = None
    actor: str | None = None
    since: datetime | None = None


def newest_events(
    database: Database, search: EventSearch, *, limit: int, before: int | None = None
) -> list[PublicEvent]:
    """Return the newest events, the newest first. `before` is the position of the last one of the page before."""
    conditions = [] if before is None else [Event.position < before]
    return _find(database, search, conditions, limit, newest_first=True)


def next_events(database: Database, search: EventSearch, *, limit: int, after: int) -> list[PublicEvent]:
    """Return the first events after a position, in the order of commits."""
    return _find(database, search, [Event.position > after], limit, newest_first=False)


def _find(
    database: Database, search: EventSearch, conditions: list[ColumnElement[bool]], limit: int, *, newest_first: bool
) -> list[PublicEvent]:
    kinds = matching_kinds(search.kinds)
    if search.kinds and not kinds:
        return []
    order = Event.position.desc() if newest_first else Event.position
    with database.reading() as session:
        conditions = [Event.position.is_not(None), *conditions, *_conditions(session, search)]
        is_indexed = search.collection_id is not None or search.actor is not None
        if kinds and not is_indexed:
            query = _of_kinds(kinds, conditions, order, limit)
        else:
            query = select(Event).where(*conditions, *([Event.kind.in_(kinds)] if kinds else []))
        return [as_public_event(row) for row in session.scalars(query.order_by(order).limit(limit))]


def _conditions(session: Session, search: EventSearch) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if search.collection_id is not None:
        conditions.append(Event.collection_id == search.collection_id)
    if search.actor is not None:
        conditions.append(Event.actor == search.actor)
    if search.since is not None:
        conditions.append(Event.at >= search.since)
        # With a bound for the position, the search does not go on to the oldest event.
        earlier = select(Event.position).where(Event.at < search.since - LONGEST_TRANSACTION)
        last = session.scalar(earlier.where(Event.position.is_not(None)).order_by(Event.at.desc()).limit(1))
        conditions.append(Event.position > (last or 0))
    return conditions


def _of_kinds(kinds: Sequence[str], conditions: Sequence[ColumnElement[bool]], order: Any, limit: int) -> Select[Any]:
    """Return a query that reads one page of each kind from its index, however rare the kind is."""
    pages = [
        select(Event.position).where(Event.kind == kind, *conditions).order_by(order).limit(limit).subquery()
        for kind in kinds
    ]
    return select(Event).where(Event.position.in_(union_all(*(select(page.c.position) for page in pages))))
