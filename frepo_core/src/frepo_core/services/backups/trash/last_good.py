"""The newest good version in a collection's trash: it is given back when the collection is left without a good one."""

from datetime import timedelta

from sqlalchemy import ColumnElement, Row, select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Blob, Collection, TrashEntry
from frepo_core.domain.backups.verdicts import GOOD
from frepo_core.domain.identity import By
from frepo_core.errors import OutdatedDecisionError

from ...base.records import CollectionRecord
from ...events.recording import NewEvent
from ..rotation.newest_size import find_newest_size
from ..rotation.stored_state import count_hidden
from .removal import ON_REQUEST, incarnation_of
from .restoration import give_back, lock_blobs

CHANGED = "The trash of the collection has changed meanwhile"


def is_good_entry() -> ColumnElement[bool]:
    """Return the condition that a version in the trash is a good one. Join its blob: damaged bytes are not good."""
    return (
        TrashEntry.verdict.in_([verdict.value for verdict in GOOD])
        & TrashEntry.quarantine_reason.is_(None)
        & Blob.damaged_at.is_(None)
    )


class LastGood:
    """The newest good version in the trash that rotation evicted. Make it before the collection is locked.

    What a person has deleted stays deleted: a person restores it.
    """

    def __init__(self, session: Session, collection_id: str) -> None:
        """Find it, and lock its blob, so that the bytes stay."""
        self._session = session
        collection = session.get(Collection, collection_id)
        self._entry_id: int | None = None
        if found := self._find(collection) if collection else None:
            self._entry_id = found.id
            lock_blobs(session, [found.blob_id])

    def give_back(self, collection: Collection, *, keep: timedelta, by: By) -> NewEvent | None:
        """Restore it into the collection, which is locked; return the event, None if there is none.

        Limits are no obstacle. It is protected for the time `keep` where a next version has room beside it.
        Raises `OutdatedDecisionError` if it is another one now.
        """
        found = self._find(collection)
        if (found.id if found else None) != self._entry_id:
            raise OutdatedDecisionError(CHANGED)
        if found is None:
            return None
        entry = self._session.scalar(select(TrashEntry).where(TrashEntry.id == found.id).with_for_update())
        if entry is None:
            raise OutdatedDecisionError(CHANGED)
        until = utc_now() + keep if self._has_room_beside(collection, entry) else None
        return give_back(self._session, collection, entry, protected_until=until, by=by)[1]

    def _find(self, collection: Collection) -> Row[int, int] | None:
        query = select(TrashEntry.id, TrashEntry.blob_id).join(Blob, Blob.id == TrashEntry.blob_id)
        is_evicted = TrashEntry.reason.not_in([reason.value for reason in ON_REQUEST])
        query = query.where(TrashEntry.incarnation == incarnation_of(collection), is_good_entry(), is_evicted)
        return self._session.execute(query.order_by(TrashEntry.number.desc(), TrashEntry.id.desc()).limit(1)).first()

    def _has_room_beside(self, row: Collection, entry: TrashEntry) -> bool:
        collection = CollectionRecord.of(row)
        limits, hidden = collection.limits, count_hidden(self._session, collection, utc_now())
        size = hidden.size + entry.size + (find_newest_size(self._session, row.id) or 0)
        has_place = not limits.versions or hidden.count + 2 <= limits.versions
        return has_place and (not limits.total_size or size <= limits.total_size)
