"""Counts uploads and refused uploads from events."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Event, Sample
from frepo_core.domain.event_kinds import EventKind

UPLOADS = (EventKind.VERSION_ADDED.value, EventKind.VERSION_QUARANTINED.value, EventKind.FILE_ADDED.value)

REFUSED = EventKind.VERSION_REFUSED.value


@dataclass(frozen=True, kw_only=True)
class Activity:
    """How many versions and files were uploaded, and how many uploads of versions were refused."""

    uploads: int
    refusals: int


def count_activity(session: Session, after: datetime, until: datetime) -> Activity:
    """Count the events after a time, up to another one. It takes longer the more events are in between."""
    is_between = (Event.at > after) & (Event.at <= until)
    # One statement, because each reads all events in between.
    is_upload = case((Event.kind.in_(UPLOADS), 1), else_=0)
    refused = case((Event.kind == REFUSED, Event.data["count"].as_integer()), else_=0)
    query = select(func.sum(is_upload), func.sum(refused)).where(is_between, Event.kind.in_([*UPLOADS, REFUSED]))
    uploads, refusals = session.execute(query).one()
    return Activity(uploads=int(uploads or 0), refusals=int(refusals or 0))


def count_activity_of_days(session: Session, now: datetime, length: timedelta) -> Activity:
    """Count the events of many days: those of past days from the samples, and only the others one by one.

    The period may be up to a day longer than `length`, as it begins where its first sample does.
    """
    start = now - length
    has_counts = (Sample.collection_id.is_(None), Sample.uploads.is_not(None))
    query = select(Sample.at, Sample.uploads, Sample.refusals).where(*has_counts, Sample.at > start)
    samples = [
        (at, Activity(uploads=uploads or 0, refusals=refusals or 0))
        for at, uploads, refusals in session.execute(query.order_by(Sample.at))
    ]
    parts = [count_activity(session, samples[-1][0] if samples else start, now)]
    if samples and session.scalar(select(Sample.id).where(*has_counts, Sample.at <= start).limit(1)) is None:
        # In the first month the samples do not cover the whole period.
        parts.append(count_activity(session, start, samples.pop(0)[0]))
    parts += [activity for _, activity in samples]
    return Activity(uploads=sum(one.uploads for one in parts), refusals=sum(one.refusals for one in parts))
