"""Records how large each collection and the service are, once a day: the source of growth curves."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

from sqlalchemy import delete, distinct, func, insert, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Blob, Collection, File, Version
from frepo_core.db.upkeep_models import Sample

KEPT = timedelta(days=800)
BATCH = 1000


def take_samples(database: Database, *, now: datetime) -> dict[str, Any]:
    """Write one row for each collection and one for the service; rows of the same day (UTC) are replaced.

    For a collection, the size is the sum of its versions, equal contents counted each time. For the service it is that
    of its blobs, each counted once. Samples of more than 800 days ago are deleted.
    """
    with database.reading(is_snapshot=True) as session:
        collections = _collections(session)
        versions = sum(row["versions"] for row in collections)
        blobs, size = session.execute(select(func.count(), func.coalesce(func.sum(Blob.size), 0))).one()
    total = {"collection_id": None, "versions": versions, "size": int(size), "blobs": blobs}
    rows = [{"at": now, **row} for row in [total, *collections]]
    database.write(lambda session: _replace(session, rows, now))
    return {"collections": len(collections), "versions": versions, "size": int(size), "blobs": blobs}


def _collections(session: Session) -> list[dict[str, Any]]:
    counts = select(Version.collection_id, func.count(distinct(File.blob_id)).label("blobs")).join(Version.file)
    by_collection = counts.group_by(Version.collection_id).subquery()
    query = select(
        Collection.id, Collection.versions_count, Collection.stored_size, func.coalesce(by_collection.c.blobs, 0)
    ).outerjoin(by_collection, by_collection.c.collection_id == Collection.id)
    return [
        {"collection_id": found, "versions": versions, "size": size, "blobs": blobs}
        for found, versions, size, blobs in session.execute(query)
    ]


def _replace(session: Session, rows: list[dict[str, Any]], now: datetime) -> None:
    today = datetime.combine(now.astimezone(UTC).date(), time(), UTC)
    session.execute(delete(Sample).where(Sample.at >= today, Sample.at < today + timedelta(days=1)))
    session.execute(delete(Sample).where(Sample.at < now - KEPT))
    for start in range(0, len(rows), BATCH):
        session.execute(insert(Sample), rows[start : start + BATCH])
