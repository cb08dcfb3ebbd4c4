"""Ends what has been in the trash for its time."""

from collections.abc import Callable, Mapping
from datetime import datetime

from sqlalchemy import Delete, delete, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import DeletedCollection, TrashEntry
from frepo_core.domain.identity import By

from ...content.blobs.lifecycle import Blobs
from .entries import EndReason, end_entries

BATCH = 200


def end_expired(
    database: Database, blobs: Blobs, *, now: datetime, by: By, keep_going: Callable[[], None]
) -> Mapping[str, int]:
    """End the entries and the deleted collections whose time is over; return the numbers of both.

    The entries are ended in short transactions. `keep_going` is called before each.
    """
    versions = 0
    while True:
        keep_going()
        blob_ids = database.write(lambda session: _end_batch(session, now, by), may_use_reserve=True)
        if not blob_ids:
            break
        versions += len(blob_ids)
        blobs.collect(blob_ids)
    return {"versions": versions, "collections": database.execute(_end_collections(now))}


def _end_batch(session: Session, now: datetime, by: By) -> list[int]:
    # All that ends entries locks them in the order of their ids.
    first = select(TrashEntry.id).where(TrashEntry.ends_at <= now).order_by(TrashEntry.ends_at).limit(BATCH)
    ids = session.scalars(first).all()
    query = select(TrashEntry).where(TrashEntry.id.in_(ids), TrashEntry.ends_at <= now).order_by(TrashEntry.id)
    return end_entries(session, session.scalars(query.with_for_update()).all(), EndReason.TIME, now=now, by=by)


def _end_collections(now: datetime) -> Delete:
    left = select(TrashEntry.id).where(TrashEntry.incarnation == DeletedCollection.incarnation).exists()
    return delete(DeletedCollection).where(DeletedCollection.ends_at <= now, ~left)
