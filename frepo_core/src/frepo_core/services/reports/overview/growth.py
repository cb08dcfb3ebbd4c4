"""How fast the service and its collections grow, and when the storage is full at that rate."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Collection, Sample

PERIOD = timedelta(days=30)
DAY = timedelta(days=1)
# A forecast of centuries says nothing.
FARTHEST = timedelta(days=36_525)


@dataclass(frozen=True, kw_only=True)
class Growth:
    """How many bytes a day something grew by (negative: it shrank), and the day on which it is full at that rate.

    `per_day` is None if less than a day is known, `full_on` if that is so, if nothing grows, or without a limit.
    """

    per_day: int | None
    full_on: date | None


@dataclass(frozen=True, kw_only=True)
class CollectionUsage:
    """The space of a collection: its versions, their bytes, its size limit (0: unlimited), and its growth."""

    id: str
    name: str
    versions: int
    size: int
    max_size: int
    last_arrival: datetime | None
    growth: Growth


def grow(start: datetime, size: int, now: datetime, size_now: int, free: int | None) -> Growth:
    """Return the growth between two measurements, and when `free` bytes more are used up at that rate."""
    days = (now - start) / DAY
    if days < 1:
        return Growth(per_day=None, full_on=None)
    per_day = (size_now - size) / days
    full_on = None
    if free is not None and per_day > 0 and (left := free / per_day) <= FARTHEST / DAY:
        full_on = (now + timedelta(days=max(left, 0))).date()
    return Growth(per_day=round(per_day), full_on=full_on)


def service_growth(session: Session, now: datetime, free: int | None) -> Growth:
    """Return the growth of the stored bytes between the first and the last sample of the last 30 days."""
    of_service = (Sample.collection_id.is_(None), Sample.at > now - PERIOD, Sample.at <= now)
    samples = session.execute(select(Sample.at, Sample.size).where(*of_service).order_by(Sample.at)).all()
    if not samples:
        return Growth(per_day=None, full_on=None)
    first, last = samples[0], samples[-1]
    found = grow(first.at, first.size, last.at, last.size, None)
    if found.per_day is None or found.per_day <= 0 or free is None:
        return found
    return Growth(per_day=found.per_day, full_on=grow(now - DAY, 0, now, found.per_day, free).full_on)


def collection_usage(session: Session, now: datetime, limit: int) -> Sequence[CollectionUsage]:
    """Return the largest collections, with their growth in the last 30 days."""
    of_service = (Sample.collection_id.is_(None), Sample.at > now - PERIOD)
    # All samples of a day have the same time.
    sampled_at = session.scalar(select(func.min(Sample.at)).where(*of_service))
    rows = session.scalars(select(Collection).order_by(Collection.stored_size.desc(), Collection.id).limit(limit)).all()
    sizes: dict[str | None, int] = {}
    if sampled_at is not None:
        sizes = {
            found: size
            for found, size in session.execute(
                select(Sample.collection_id, Sample.size).where(
                    Sample.at == sampled_at, Sample.collection_id.in_([row.id for row in rows])
                )
            )
        }
    return [_usage(row, sizes.get(row.id), sampled_at, now) for row in rows]


def _usage(row: Collection, size: int | None, sampled_at: datetime | None, now: datetime) -> CollectionUsage:
    free = max(row.max_collection_size - row.stored_size, 0) if row.max_collection_size else None
    start = sampled_at if size is not None and sampled_at else row.created_at
    is_known = size is not None or row.created_at > now - PERIOD  # a collection begins empty
    growth = grow(start, size or 0, now, row.stored_size, free) if is_known else Growth(per_day=None, full_on=None)
    return CollectionUsage(
        id=row.id,
        name=row.filename,
        versions=row.versions_count,
        size=row.stored_size,
        max_size=row.max_collection_size,
        last_arrival=row.arrived_at,
        growth=growth,
    )
