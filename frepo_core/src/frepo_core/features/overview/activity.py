"""Counts uploads and refused uploads from events."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Event, Sample
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.structs import struct

UPLOADS = (EventKind.VERSION_ADDED.value, EventKind.VERSION_QUARANTINED.value, EventKind.FILE_ADDED.value)

REFUSED = EventKind.VERSION_REFUSED.value


@struct
class Activity:
    """How many versions and files were uploaded, and how many uploads of versions were refused."""

    uploads: int
    refusals: int


def count_activity(session: Session, after: datetime, until: datetime) -> Activity:
    """Count the events after a time, up to another one. It takes longer the more events are in between."""
    (activity,) = _count_after(session, [after], until)
    return activity


def count_recent(session: Session, now: datetime, *, short: timedelta, long: timedelta) -> tuple[Activity, Activity]:
    """Count the events of a short and of a long time before now.

    Those of past days come from the samples, and only the others are counted one by one. So the long time may be up to
    a day longer, as it begins where its first sample does.
    """
    start = now - long
    has_counts = (Sample.collection_id.is_(None), Sample.uploads.is_not(None))
    query = select(Sample.at, Sample.uploads, Sample.refusals).where(*has_counts, Sample.at > start)
    samples = [
        (at, Activity(uploads=uploads or 0, refusals=refusals or 0))
        for at, uploads, refusals in session.execute(query.order_by(Sample.at))
    ]
    recent, rest = _count_after(session, [now - short, samples[-1][0] if samples else start], now)
    parts = [rest]
    if samples and session.scalar(select(Sample.id).where(*has_counts, Sample.at <= start).limit(1)) is None:
        # In the first month the samples do not cover the whole period.
        parts.append(count_activity(session, start, samples.pop(0)[0]))
    parts += [activity for _, activity in samples]
    return recent, Activity(uploads=sum(one.uploads for one in parts), refusals=sum(one.refusals for one in parts))


def _count_after(session: Session, begins: Sequence[datetime], until: datetime) -> list[Activity]:
    """Count the events after each of these times in one statement, as each reads all events in between."""
    sums = []
    for begin in begins:
        is_after = Event.at > begin
        sums.append(func.sum(case((is_after & Event.kind.in_(UPLOADS), 1), else_=0)))
        sums.append(func.sum(case((is_after & (Event.kind == REFUSED), Event.data["count"].as_integer()), else_=0)))
    is_between = (Event.at > min(begins)) & (Event.at <= until)
    query = select(*sums).where(is_between, Event.kind.in_([*UPLOADS, REFUSED]))
    found = [int(value or 0) for value in session.execute(query).one()]
    return [Activity(uploads=found[at], refusals=found[at + 1]) for at in range(0, len(found), 2)]
