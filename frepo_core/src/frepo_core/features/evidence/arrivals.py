"""Reads which backups have arrived, and which of them were good, from events and from what is still there."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db.models import Event, Version
from frepo_core.domain.backups.verdicts import GOOD
from frepo_core.domain.event_kinds import EventKind

_ARRIVED = (EventKind.VERSION_ADDED, EventKind.VERSION_QUARANTINED)
_BAD = (
    EventKind.VERSION_QUARANTINED,
    EventKind.VERSION_CONDEMNED,
    EventKind.VERSION_SUSPICIOUS,
    EventKind.RUN_FAILED,
)
KINDS = (*_ARRIVED, *_BAD, EventKind.VERSION_RELEASED)


@dataclass(kw_only=True)
class Arrival:
    """A backup that has arrived at a time (UTC, aware), who has sent it, and whether it counts as good."""

    at: datetime
    number: int
    sender: str
    is_good: bool = True


def read_arrivals(session: Session, since: datetime, until: datetime) -> Mapping[str, Sequence[Arrival]]:
    """Return the arrivals by collection, the oldest first. Two statements, however many collections there are.

    What is known now counts for a version that is still there; for one that was removed since, its events do.
    """
    found: dict[str, dict[int, Arrival]] = defaultdict(dict)
    columns = (Event.collection_id, Event.version_number, Event.kind, Event.at, Event.actor, Event.actor_name)
    of_versions = (Event.collection_id.is_not(None), Event.version_number.is_not(None))
    query = select(*columns).where(Event.kind.in_(KINDS), Event.at >= since, Event.at < until, *of_versions)
    for collection, number, kind, at, actor, name in session.execute(query.order_by(Event.id)):
        assert collection is not None
        assert number is not None
        versions = found[collection]
        if kind in _ARRIVED and number not in versions:
            versions[number] = Arrival(at=at, number=number, sender=name or actor)
        if number in versions and (kind in _BAD or kind == EventKind.VERSION_RELEASED):
            versions[number].is_good = kind not in _BAD
    verdicts = select(Version.collection_id, Version.number, Version.verdict, Version.quarantined_at)
    for collection, number, verdict, quarantined_at in session.execute(verdicts.where(Version.created_at >= since)):
        if number in found.get(collection, ()):
            found[collection][number].is_good = verdict in GOOD and quarantined_at is None
    return {collection: sorted(each.values(), key=lambda one: one.at) for collection, each in found.items()}
