"""The pinned versions of all collections, and the end of pins whose time is over."""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from frepo_core.db import Database
from frepo_core.db.models import Collection, File, Version
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By, Identity
from frepo_core.domain.permissions import allows
from frepo_core.domain.structs import struct

from ...base.keyset import Page, PageRequest, cut, paged
from ...base.records import CollectionRecord, VersionRecord
from ...events.facts import version_event
from ...events.recording import NewEvent, record
from ..rows.collection_rows import lock_collection
from ..rows.collection_search import lists_one_of

log = logging.getLogger(__name__)

BATCH = 100


@struct
class PinnedVersion:
    """A pinned version and its collection."""

    collection: CollectionRecord
    version: VersionRecord


class Pins:
    """Lists the pinned versions of all collections."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, page: PageRequest, *, by: Identity | None) -> Page[PinnedVersion]:
        """Return a page of the pinned versions, by collection and number; `by` is None for `frepo`.

        They are those of the collections whose versions the token may list. Raises `FieldsError` for an invalid cursor.
        """
        query: Any = select(Version, Collection).join(Collection, Collection.id == Version.collection_id)
        query = query.options(joinedload(Version.file).joinedload(File.blob)).where(Version.pinned.is_(True))
        if by is not None and not allows("version.list", by):
            query = query.where(lists_one_of([by.token]))
        with self._database.reading() as session:
            rows = session.execute(paged(query, page, [Version.collection_id, Version.number])).all()
            found = cut(rows, page, lambda row: [row[0].collection_id, row[0].number])
            items = [
                PinnedVersion(collection=CollectionRecord.of(collection), version=VersionRecord.of(version))
                for version, collection in found.items
            ]
            return Page(items=items, next=found.next)

    def list(self) -> Sequence[PinnedVersion]:
        """Return all pinned versions, by collection and number."""
        found: list[PinnedVersion] = []
        after: Sequence[object] | None = None
        while True:
            page = self.page(PageRequest(limit=500, after=after), by=None)
            found += page.items
            if page.next is None:
                return found
            after = page.next


def pin(collection: Collection, row: Version, *, until: datetime | None, reason: str, by: By) -> NewEvent:
    """Pin a version of a collection that is locked, or change the end and the reason of its pin; return the event."""
    if not row.pinned:
        _count(collection, row, 1)
    row.pinned, row.pinned_until, row.pin_reason = True, until, reason
    data = {"pinned_until": until.isoformat() if until else None, "pin_reason": reason}
    return version_event(EventKind.VERSION_PINNED, VersionRecord.of(row), by=by, **data)


def unpin(collection: Collection, row: Version, *, by: By, is_over: bool = False) -> NewEvent:
    """Unpin a version of a collection that is locked; return the event. `is_over`: the time of the pin was over."""
    _count(collection, row, -1)
    data = {"pin_reason": row.pin_reason, "ended": is_over}
    row.pinned, row.pinned_until, row.pin_reason = False, None, ""
    return version_event(EventKind.VERSION_UNPINNED, VersionRecord.of(row), by=by, **data)


def end_pins(database: Database, *, now: datetime, by: By, keep_going: Callable[[], None]) -> int:
    """Unpin the versions whose `pinned_until` is over; return their number.

    Nothing is evicted: the next upload finds them without their pins. `keep_going` is called before each transaction.
    """
    ended = 0
    while True:
        with database.reading() as session:
            query = select(Version.collection_id).where(Version.pinned_until <= now).order_by(Version.pinned_until)
            collection_id = session.scalar(query.limit(1))
        if collection_id is None:
            return ended
        keep_going()
        ended += database.write(partial(_end_pins_of, collection_id=collection_id, now=now, by=by))


def _end_pins_of(session: Session, *, collection_id: str, now: datetime, by: By) -> int:
    """End at most `BATCH` pins of one collection."""
    collection = lock_collection(session, collection_id)
    query = select(Version).options(joinedload(Version.file).joinedload(File.blob))
    query = query.where(Version.collection_id == collection_id, Version.pinned_until <= now)
    rows = session.scalars(query.order_by(Version.number).limit(BATCH)).all()
    record(session, *(unpin(collection, row, by=by, is_over=True) for row in rows))
    for row in rows:
        log.info("collection %s: the pin of version v%s is over", collection_id, row.number)
    return len(rows)


def _count(collection: Collection, row: Version, step: int) -> None:
    """Count a version among the pinned ones, or not any more. A pending one is counted when rotation goes on."""
    if row.is_counted:
        collection.pinned_count += step
        collection.pinned_size += step * row.file.blob.size
