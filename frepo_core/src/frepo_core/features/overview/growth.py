"""How fast the service and its collections grow, and when the storage is full at that rate."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Literal, TypeAlias

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Collection, Sample
from frepo_core.domain.structs import struct

PERIOD = timedelta(days=30)
DAY = timedelta(days=1)
# A forecast of centuries says nothing.
FARTHEST = timedelta(days=36_525)


LimitName: TypeAlias = Literal["versions", "size", "disk"]


@struct
class Growth:
    """How many bytes a day something grew by (negative: it shrank), and the day on which it is full at that rate.

    `per_day` is None if less than a day is known, `full_on` if that is so, if nothing grows, or without a limit.
    `full_by` is the limit that a collection reaches first. If it `is_full`, that was on this day: it refuses uploads.
    """

    per_day: int | None
    full_on: date | None
    full_by: LimitName | None = None
    is_full: bool = False


@struct
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


def collection_usage(
    session: Session, now: datetime, limit: int, *, disk: Mapping[str | None, date | None]
) -> Sequence[CollectionUsage]:
    """Return the largest collections, with their growth in the last 30 days.

    `disk` says when a storage is full, by its name; None is the one of collections that name none.
    """
    of_service = (Sample.collection_id.is_(None), Sample.at > now - PERIOD)
    # All samples of a day have the same time.
    sampled_at = session.scalar(select(func.min(Sample.at)).where(*of_service))
    rows = session.scalars(select(Collection).order_by(Collection.stored_size.desc(), Collection.id).limit(limit)).all()
    before: dict[str | None, _Before] = {}
    if sampled_at is not None:
        of_them = (Sample.at == sampled_at, Sample.collection_id.in_([row.id for row in rows]))
        found = session.execute(select(Sample.collection_id, Sample.size, Sample.versions).where(*of_them))
        before = {one: _Before(at=sampled_at, size=size, versions=versions) for one, size, versions in found}
    for row in rows:
        if row.id not in before and row.created_at > now - PERIOD:  # a collection begins empty
            before[row.id] = _Before(at=row.created_at, size=0, versions=0)
    return [_usage(row, before.get(row.id), now, disk.get(row.storage)) for row in rows]


@struct
class _Before:
    """What a collection contained at the beginning of the time in which its growth is measured."""

    at: datetime
    size: int
    versions: int


def _forecast(row: Collection, before: _Before | None, now: datetime, disk: date | None) -> Growth:
    """Return the growth of a collection, and the limit that it reaches first."""
    if before is None:
        growth = Growth(per_day=None, full_on=None)
    else:
        free = max(row.max_collection_size - row.stored_size, 0) if row.max_collection_size else None
        growth = grow(before.at, before.size, now, row.stored_size, free)
    if row.full_since is not None:
        return replace(growth, full_on=row.full_since.date(), full_by=_reached(row), is_full=True)
    days: dict[LimitName, date | None] = {"size": growth.full_on, "disk": disk}
    # At its limit, a collection that refuses nothing rotates.
    if before is not None and row.versions_count < row.max_backups_count:
        free = row.max_backups_count - row.versions_count
        days["versions"] = grow(before.at, before.versions, now, row.versions_count, free).full_on
    first = min(((day, name) for name, day in days.items() if day is not None), default=(None, None))
    return replace(growth, full_on=first[0], full_by=first[1])


def _reached(row: Collection) -> LimitName:
    """Return why a collection has no room: what it lacks is not stored."""
    if 0 < row.max_backups_count <= row.versions_count:
        return "versions"
    newest = row.stored_size // max(row.versions_count, 1)
    return "size" if 0 < row.max_collection_size < row.stored_size + newest else "disk"


def _usage(row: Collection, before: _Before | None, now: datetime, disk: date | None) -> CollectionUsage:
    growth = _forecast(row, before, now, disk)
    return CollectionUsage(
        id=row.id,
        name=row.filename,
        versions=row.versions_count,
        size=row.stored_size,
        max_size=row.max_collection_size,
        last_arrival=row.arrived_at,
        growth=growth,
    )
