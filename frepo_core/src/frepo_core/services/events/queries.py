"""Reads events in the order of commits."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from fnmatch import fnmatchcase

from sqlalchemy import func, select

from frepo_core.db import Database
from frepo_core.db.models import Event
from frepo_core.domain.event_kinds import EventKind
from frepo_core.plugins import Event as PublicEvent
from frepo_core.plugins import EventCount


def matching_kinds(patterns: Iterable[str], of_plugins: Iterable[str]) -> list[str]:
    """Return the kinds that match one of the patterns, such as `version.*`: of frepo, and those of plug-ins."""
    patterns = list(patterns)
    kinds = [*(kind.value for kind in EventKind), *of_plugins]
    return [kind for kind in kinds if any(fnmatchcase(kind, pattern) for pattern in patterns)]


def as_public_event(row: Event) -> PublicEvent:
    """Return a numbered event as plug-ins see it."""
    if row.position is None:
        raise ValueError(f"the event {row.id} has no position yet")
    return PublicEvent(
        id=row.id,
        position=row.position,
        at=row.at,
        kind=row.kind,
        actor=f"{row.actor} ({row.actor_name})" if row.actor_name else row.actor,
        address=row.address,
        collection_id=row.collection_id,
        version_number=row.version_number,
        file_id=None if row.file_id is None else str(row.file_id),
        token=row.token,
        data=row.data,
    )


def read_events(
    database: Database,
    *,
    after: int | None,
    since: datetime | None,
    kinds: Sequence[str],
    limit: int,
    of_plugins: Iterable[str] = (),
) -> list[PublicEvent]:
    """Return the first numbered events after a position, or since a time, in their order.

    `kinds` are patterns for the kinds of frepo and for those `of_plugins`.
    """
    query = select(Event).where(Event.position.is_not(None)).order_by(Event.position).limit(limit)
    if after is not None:
        query = query.where(Event.position > after)
    if since is not None:
        query = query.where(Event.at >= since)
    if "*" not in kinds:
        query = query.where(Event.kind.in_(matching_kinds(kinds, of_plugins)))
    with database.reading() as session:
        return [as_public_event(row) for row in session.scalars(query)]


def count_events(database: Database, since: datetime) -> Mapping[str, EventCount]:
    """Count the events since a time, and the collections that they are about, by kind."""
    query = (
        select(Event.kind, func.count(), func.count(Event.collection_id.distinct()))
        .where(Event.at >= since)
        .group_by(Event.kind)
    )
    with database.reading() as session:
        rows = session.execute(query).all()
    return {kind: EventCount(events=events, collections=collections) for kind, events, collections in rows}
