"""The newest good version in a collection's trash: it is given back when the collection is left without a good one."""

from datetime import timedelta

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Blob, Collection, TrashEntry
from frepo_core.domain.backups.verdicts import GOOD
from frepo_core.domain.identity import By

from ...base.records import CollectionRecord
from ...events.recording import NewEvent
from ..rotation.newest_size import find_newest_size
from ..rotation.stored_state import count_hidden
from .removal import incarnation_of
from .restoration import give_back, lock_blobs


def is_good_entry() -> ColumnElement[bool]:
    """Return the condition that a version in the trash is a good one. Join its blob: damaged bytes are not good."""
    return (
        TrashEntry.verdict.in_([verdict.value for verdict in GOOD])
        & TrashEntry.quarantine_reason.is_(None)
        & Blob.damaged_at.is_(None)
    )


class LastGood:
    """The newest good version in the trash of a collection. Make it before the collection is locked."""

    def __init__(self, session: Session, collection_id: str) -> None:
        """Find it, and lock its blob, so that the bytes stay."""
        self._session = session
        collection = session.get(Collection, collection_id)
        self._entry_id: int | None = None
        if collection is None:
            return
        query = select(TrashEntry.id, TrashEntry.blob_id).join(Blob, Blob.id == TrashEntry.blob_id)
        query = query.where(TrashEntry.incarnation == incarnation_of(collection), is_good_entry())
        found = session.execute(query.order_by(TrashEntry.number.desc(), TrashEntry.id.desc()).limit(1)).first()
        if found is not None:
            self._entry_id = found.id
            lock_blobs(session, [found.blob_id])

    def give_back(self, collection: Collection, *, keep: timedelta, by: By) -> NewEvent | None:
        """Restore it into the collection, which is locked; return the event, None if there is none any more.

        Limits are no obstacle. It is protected for the time `keep` where a next version has room beside it.
        """
        query = select(TrashEntry).where(TrashEntry.id == self._entry_id).with_for_update()
        entry = self._session.scalar(query) if self._entry_id is not None else None
        if entry is None:
            return None
        until = utc_now() + keep if self._has_room_beside(collection, entry) else None
        return give_back(self._session, collection, entry, protected_until=until, by=by)[1]

    def _has_room_beside(self, row: Collection, entry: TrashEntry) -> bool:
        collection = CollectionRecord.of(row)
        limits, hidden = collection.limits, count_hidden(self._session, collection, utc_now())
        size = hidden.size + entry.size + (find_newest_size(self._session, row.id) or 0)
        has_place = not limits.versions or hidden.count + 2 <= limits.versions
        return has_place and (not limits.total_size or size <= limits.total_size)
