"""The newest good version of a collection, if it is in the trash: it stays there, or is given back for a late verdict.

That is one that nobody has deleted, and that is newer than each good version that the collection holds.
"""

from datetime import timedelta

from sqlalchemy import ColumnElement, Row, Select, func, select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Collection, Content, TrashEntry, Version
from frepo_core.domain.backups.verdicts import GOOD
from frepo_core.domain.identity import By
from frepo_core.errors import OutdatedDecisionError

from ...base.records import CollectionRecord
from ...content.objects.uses import is_lost
from ...events.recording import NewEvent
from ..rotation.evictable_versions import count_hidden
from ..rotation.newest_size import find_newest_size
from ..rows.collection_rows import INCARNATION
from ..rows.newest_good import newest_good
from ..rows.removal import ON_REQUEST, incarnation_of
from ..rows.verdicts import find_newest_good
from .restoration import give_back, lock_for_use

CHANGED = "The trash of the collection has changed meanwhile"


def is_good_entry() -> ColumnElement[bool]:
    """Return the condition that a version in the trash is a good one. Join its content: lost bytes are not good."""
    return (
        TrashEntry.verdict.in_([verdict.value for verdict in GOOD])
        & TrashEntry.quarantine_reason.is_(None)
        & ~is_lost()
    )


def is_evicted() -> ColumnElement[bool]:
    """Return the condition that a version left its collection without a person's decision."""
    return TrashEntry.reason.not_in([reason.value for reason in ON_REQUEST])


def select_last_good(*conditions: ColumnElement[bool]) -> Select[str, int]:
    """Return a query for the incarnations of collections whose newest good version is in the trash, and its number.

    What a person has deleted counts only if the collection holds no good one, or was deleted, too. `conditions` are
    about the entries that are looked at.
    """
    # Both lists are read once, and by the indexes of versions and of the trash for each collection.
    collections = select(INCARNATION).where(INCARNATION.in_(select(TrashEntry.incarnation).where(*conditions)))
    held, evicted = newest_good(Version.number), func.max(TrashEntry.number)
    newest = select(evicted).join(Content, Content.id == TrashEntry.content_id).where(is_good_entry(), is_evicted())
    newest_evicted = newest.where(TrashEntry.incarnation == INCARNATION).correlate(Collection).scalar_subquery()
    is_alone = TrashEntry.incarnation.not_in(collections.where(held.is_not(None)))
    is_newer = TrashEntry.incarnation.in_(collections.where(newest_evicted > held)) & is_evicted()
    query = select(TrashEntry.incarnation, func.max(TrashEntry.number).label("number"))
    query = query.join(Content, Content.id == TrashEntry.content_id).where(
        is_good_entry(), is_alone | is_newer, *conditions
    )
    return query.group_by(TrashEntry.incarnation)


class LastGood:
    """The newest good version in the trash that rotation evicted. Make it before the collection is locked.

    What a person has deleted stays deleted: a person restores it.
    """

    def __init__(self, session: Session, collection_id: str) -> None:
        """Find it, and lock its content, so that the bytes stay."""
        self._session = session
        collection = session.get(Collection, collection_id)
        self._entry_id: int | None = None
        self.content_ids: list[int] = []
        if found := self._find(collection) if collection else None:
            self._entry_id = found.id
            self.content_ids = [found.content_id]
            lock_for_use(session, self.content_ids)

    def give_back(self, collection: Collection, *, keep: timedelta, by: By) -> NewEvent | None:
        """Restore it into the collection, which is locked; return the event, None if there is none.

        It stays in the trash if the collection holds a newer good one.
        Limits are no obstacle. It is protected for the time `keep` where a next version has room beside it.
        Raises `OutdatedDecisionError` if it is another one now.
        """
        found, held = self._find(collection), find_newest_good(self._session, collection.id)
        if found is None or (held is not None and held.number > found.number):
            return None
        if found.id != self._entry_id:
            raise OutdatedDecisionError(CHANGED)
        entry = self._session.scalar(select(TrashEntry).where(TrashEntry.id == found.id).with_for_update())
        if entry is None:
            raise OutdatedDecisionError(CHANGED)
        until = utc_now() + keep if self._has_room_beside(collection, entry) else None
        return give_back(self._session, collection, entry, protected_until=until, by=by)[1]

    def _find(self, collection: Collection) -> Row[int, int, int] | None:
        query = select(TrashEntry.id, TrashEntry.content_id, TrashEntry.number).join(
            Content, Content.id == TrashEntry.content_id
        )
        query = query.where(TrashEntry.incarnation == incarnation_of(collection), is_good_entry(), is_evicted())
        return self._session.execute(query.order_by(TrashEntry.number.desc(), TrashEntry.id.desc()).limit(1)).first()

    def _has_room_beside(self, row: Collection, entry: TrashEntry) -> bool:
        collection = CollectionRecord.of(row)
        limits, hidden = collection.limits, count_hidden(self._session, collection, utc_now())
        size = hidden.size + entry.size + (find_newest_size(self._session, row.id) or 0)
        has_place = not limits.versions or hidden.count + 2 <= limits.versions
        return has_place and (not limits.total_size or size <= limits.total_size)
