"""Records how large each collection and the service are, once a day: the source of growth curves."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

from sqlalchemy import delete, distinct, func, insert, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Collection, File, Sample, Version
from frepo_core.services.base.batches import batches
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.reports.sizes import measure_sizes

from .activity import count_activity

KEPT = timedelta(days=800)
BATCH = 1000
_ONLY_OF_SERVICE = {"sent": None, "trash": None, "uploads": None, "refusals": None}


def take_samples(database: Database, backends: Backends, *, now: datetime) -> dict[str, Any]:
    """Write one row for each collection and one for the service; rows of the same day (UTC) are replaced.

    For a collection, the size is the sum of its versions, equal contents counted each time. For the service it is that
    of its blobs, each counted once. Samples of more than 800 days ago are deleted.
    """
    with database.reading(is_snapshot=True) as session:
        collections = _collections(session)
        versions = sum(row["versions"] for row in collections)
        sizes = measure_sizes(session, backends, now)
        activity = count_activity(session, _last_before(session, _midnight(now)) or now - timedelta(days=1), now)
    counted = {
        "versions": versions,
        "size": sizes.stored,
        "blobs": sizes.blobs,
        "sent": sizes.sent,
        "trash": sizes.trash,
    }
    total = {"collection_id": None, **counted, "uploads": activity.uploads, "refusals": activity.refusals}
    rows = [{"at": now, **row} for row in [total, *collections]]
    database.write(lambda session: _replace(session, rows, now))
    return {"collections": len(collections), "versions": versions, "size": sizes.stored, "blobs": sizes.blobs}


def _collections(session: Session) -> list[dict[str, Any]]:
    counts = select(Version.collection_id, func.count(distinct(File.content_id)).label("blobs")).join(Version.file)
    counts = counts.where(~Version.is_quarantined)
    by_collection = counts.group_by(Version.collection_id).subquery()
    query = select(
        Collection.id, Collection.versions_count, Collection.stored_size, func.coalesce(by_collection.c.blobs, 0)
    ).outerjoin(by_collection, by_collection.c.collection_id == Collection.id)
    return [
        {"collection_id": found, "versions": versions, "size": size, "blobs": blobs, **_ONLY_OF_SERVICE}
        for found, versions, size, blobs in session.execute(query)
    ]


def _replace(session: Session, rows: list[dict[str, Any]], now: datetime) -> None:
    today = _midnight(now)
    session.execute(delete(Sample).where(Sample.at >= today, Sample.at < today + timedelta(days=1)))
    session.execute(delete(Sample).where(Sample.at < now - KEPT))
    for batch in batches(rows, BATCH):
        session.execute(insert(Sample), batch)


def _last_before(session: Session, moment: datetime) -> datetime | None:
    """Return the time of the last sample of the service before a moment."""
    of_service = (Sample.collection_id.is_(None), Sample.at < moment)
    return session.scalar(select(func.max(Sample.at)).where(*of_service))


def _midnight(moment: datetime) -> datetime:
    return datetime.combine(moment.astimezone(UTC).date(), time(), UTC)
