"""Searches for events in the order of commits, newest first or after a position. Only numbered events are found."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, select, union_all
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Collection, Event
from frepo_core.db.text_expressions import contains, contains_unindexed
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.structs import struct
from frepo_core.plugins import Event as PublicEvent

from ..base.batches import batches
from .queries import as_public_event, matching_kinds

# An event that was recorded so long before another one was committed before it, too.
LONGEST_TRANSACTION = timedelta(hours=1)
# No time is an hour before the first one.
FIRST_TIME = datetime.min.replace(tzinfo=UTC) + LONGEST_TRANSACTION
# Events that may be about several collections.
SHARED = (EventKind.BLOB_DAMAGED.value, EventKind.BLOB_HEALED.value)
# SQLite allows 500 parts of a query, and 999 values.
SCOPES = 100


@struct
class EventSearch:
    """The conditions of a search. `kinds` are names or patterns such as `version.*`. None or an empty list: any value.

    `of_plugins` are the kinds of plug-ins, which patterns match, too.
    `text` is a part of the name of a collection or of an actor, in any case, or an actor as it is.
    `actor` is a token's fingerprint, `console:<user>`, `system:<job>` or `anonymous`. `since` is a time (aware).
    `visible` are the ids of the only collections whose events are found, and when each was created: others may have had
    its id before. None: those of all.
    """

    kinds: Sequence[str] = ()
    of_plugins: Sequence[str] = ()
    collection_id: str | None = None
    version_number: int | None = None
    text: str | None = None
    actor: str | None = None
    since: datetime | None = None
    visible: Mapping[str, datetime] | None = None


@struct
class EventRecord:
    """A recorded event; see `Event` of `frepo_core.plugins`. `actor_name` is the token's name at that time."""

    position: int
    at: datetime
    kind: str
    actor: str
    actor_name: str | None
    address: str | None
    collection_id: str | None
    version_number: int | None
    file_id: int | None
    token: str | None
    data: Mapping[str, Any]


def newest_records(
    database: Database, search: EventSearch, *, limit: int, before: int | None = None
) -> list[EventRecord]:
    """Return the same events as `newest_events`, with the actor's name on its own."""
    conditions = [] if before is None else [Event.position < before]
    return [_record(row) for row in _find(database, search, conditions, limit, newest_first=True)]


def newest_events(database: Database, search: EventSearch, *, limit: int) -> list[PublicEvent]:
    """Return the newest events, the newest first."""
    return [as_public_event(row) for row in _find(database, search, [], limit, newest_first=True)]


def next_events(database: Database, search: EventSearch, *, limit: int, after: int) -> list[PublicEvent]:
    """Return the first events after a position, in the order of commits."""
    found = _find(database, search, [Event.position > after], limit, newest_first=False)
    return [as_public_event(row) for row in found]


def _find(
    database: Database, search: EventSearch, conditions: list[ColumnElement[bool]], limit: int, *, newest_first: bool
) -> Sequence[Event]:
    kinds = matching_kinds(search.kinds, search.of_plugins)
    if (search.kinds and not kinds) or is_hidden(search):
        return []
    order = Event.position.desc() if newest_first else Event.position
    with database.reading() as session:
        conditions = [Event.position.is_not(None), *conditions, *_conditions(session, search)]
        of_kinds = [Event.kind.in_(kinds)] if kinds else []
        is_indexed = search.collection_id is not None or search.actor is not None
        if search.visible is not None and search.collection_id is None:
            query = _in_collections(session, search.visible, [*conditions, *of_kinds], order, limit)
        elif kinds and not is_indexed:
            query = _of_kinds(kinds, conditions, order, limit)
        else:
            query = select(Event).where(*conditions, *of_kinds)
        return session.scalars(query.order_by(order).limit(limit)).all()


def is_hidden(search: EventSearch) -> bool:
    """Return whether the search is about a collection whose events it must not find."""
    return (
        search.visible is not None and search.collection_id is not None and search.collection_id not in search.visible
    )


def _conditions(session: Session, search: EventSearch) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if search.collection_id is not None:
        created_at = (search.visible or {}).get(search.collection_id)
        conditions.append(_is_about(search.collection_id, created_at))
    if search.version_number is not None:
        conditions.append(Event.version_number == search.version_number)
    if search.text is not None:
        conditions.append(_is_named(search.text))
    if search.actor is not None:
        conditions.append(Event.actor == search.actor)
    if search.since is not None:
        conditions.append(Event.at >= search.since)
        # With a bound for the position, the search does not go on to the oldest event.
        earlier = select(Event.position).where(Event.at < max(search.since, FIRST_TIME) - LONGEST_TRANSACTION)
        last = session.scalar(earlier.where(Event.position.is_not(None)).order_by(Event.at.desc()).limit(1))
        conditions.append(Event.position > (last or 0))
    return conditions


def _is_about(collection_id: str, created_at: datetime | None) -> ColumnElement[bool]:
    is_about = Event.collection_id == collection_id
    return is_about if created_at is None else is_about & (Event.at >= created_at)


def _is_named(text: str) -> ColumnElement[bool]:
    collections = select(Collection.id).where(contains(Collection.filename, text))
    return (Event.actor == text) | contains_unindexed(Event.actor_name, text) | Event.collection_id.in_(collections)


def _of_kinds(kinds: Sequence[str], conditions: Sequence[ColumnElement[bool]], order: Any, limit: int) -> Select[Any]:
    """Return a query that reads one page of each kind from its index, however rare the kind is."""
    pages = [
        select(Event.position).where(Event.kind == kind, *conditions).order_by(order).limit(limit).subquery()
        for kind in kinds
    ]
    return select(Event).where(Event.position.in_(union_all(*(select(page.c.position) for page in pages))))


def _in_collections(
    session: Session,
    visible: Mapping[str, datetime],
    conditions: Sequence[ColumnElement[bool]],
    order: Any,
    limit: int,
) -> Select[Any]:
    """Return a query for the first events of these collections, and of none, from one page of each from the index.

    An event about bytes that several files share names the collections of all of them, so it is not shown.
    """
    is_shared = Event.kind.in_(SHARED) & Event.file_id.is_(None)
    scopes: list[ColumnElement[bool]] = [Event.collection_id.is_(None) & ~is_shared]
    scopes += [_is_about(each, created_at) for each, created_at in visible.items()]
    positions: list[int] = []
    for batch in batches(scopes, SCOPES):
        pages = [
            select(Event.position).where(scope, *conditions).order_by(order).limit(limit).subquery() for scope in batch
        ]
        positions += session.scalars(union_all(*(select(page.c.position) for page in pages)))
    positions.sort(reverse=order is not Event.position)
    return select(Event).where(Event.position.in_(positions[:limit]))


def _record(row: Event) -> EventRecord:
    return EventRecord(**{name: getattr(row, name) for name in EventRecord.__dataclass_fields__})
