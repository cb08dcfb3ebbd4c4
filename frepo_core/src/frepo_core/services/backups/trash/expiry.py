"""Ends what has been in the trash for its time.

The newest good version of a collection stays as long as it is there and nobody has deleted it: its time is prolonged. A
version becomes that if what replaced it is damaged, for example.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from sqlalchemy import Delete, Select, delete, select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Collection, DeletedCollection, TrashEntry
from frepo_core.domain.identity import By

from ...content.blobs.lifecycle import Blobs
from ...content.objects.necessity import is_waiting
from ..rows.collection_rows import INCARNATION
from ..rows.holds import is_held
from ..rows.locks import is_unlocked
from .entries import EndReason, end_entries
from .last_good import is_evicted, select_last_good

BATCH = 200
PROLONGED = timedelta(days=1)


def end_expired(
    database: Database, blobs: Blobs, *, now: datetime, by: By, keep_going: Callable[[], None]
) -> Mapping[str, int]:
    """End the entries and the deleted collections whose time is over; return the numbers of both.

    The entries are ended in short transactions. `keep_going` is called before each. While storages have to be compared
    with the records, none ends: it may have been restored since the backup of the database.
    """
    versions = 0
    journals, first = blobs.backends.journals, blobs.backends.current
    journals.compare([first])
    with database.reading() as session:
        if is_waiting(session, blobs.backends) or not journals.is_compared(first):
            return {"versions": 0, "collections": 0}
    database.write(lambda session: _prolong(session, now), may_use_reserve=True)
    while True:
        keep_going()
        content_ids = database.write(lambda session: _end_batch(session, now, by), may_use_reserve=True)
        if not content_ids:
            break
        versions += len(content_ids)
        blobs.collect(content_ids)
    return {"versions": versions, "collections": database.execute(_end_collections(now))}


def _prolong(session: Session, now: datetime) -> None:
    """Prolong the time of the newest good version of each collection that is in the trash without a deletion."""
    is_over = TrashEntry.ends_at <= now
    over = select(TrashEntry.incarnation).where(is_over, is_evicted())
    evicted = select_last_good(TrashEntry.incarnation.in_(over), is_evicted()).subquery()
    is_newest = (TrashEntry.incarnation == evicted.c.incarnation) & (TrashEntry.number == evicted.c.number)
    newest: Select[int] = (
        select(TrashEntry.id).join(evicted, is_newest).join(Collection, INCARNATION == TrashEntry.incarnation)
    )
    ids = session.scalars(newest.where(is_over, is_evicted()).order_by(TrashEntry.id)).all()
    if ids:
        session.execute(update(TrashEntry).where(TrashEntry.id.in_(ids)).values(ends_at=now + PROLONGED))


def _end_batch(session: Session, now: datetime, by: By) -> list[int]:
    # All that ends entries locks them in the order of their ids.
    is_over = (TrashEntry.ends_at <= now) & is_unlocked(TrashEntry.locked_until, session)
    is_over = is_over & ~is_held()
    first = select(TrashEntry.id).where(is_over).order_by(TrashEntry.ends_at).limit(BATCH)
    ids = session.scalars(first).all()
    query = select(TrashEntry).where(TrashEntry.id.in_(ids), is_over).order_by(TrashEntry.id)
    return end_entries(session, session.scalars(query.with_for_update()).all(), EndReason.TIME, now=now, by=by)


def _end_collections(now: datetime) -> Delete:
    left = select(TrashEntry.id).where(TrashEntry.incarnation == DeletedCollection.incarnation).exists()
    return delete(DeletedCollection).where(DeletedCollection.ends_at <= now, ~left)
