"""The use cases of the holds of collections: set one, end it, and list the collections that are on hold."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection, TrashEntry
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Identity, describe_actor
from frepo_core.domain.permissions import allows
from frepo_core.errors import FieldsError

from ...base.keyset import Page, PageRequest, cut, paged
from ...base.records import CollectionRecord
from ...events.actors import actor_of
from ...events.facts import collection_event
from ...events.recording import record
from ..rows.collection_rows import find_collection
from ..rows.collection_search import lists_one_of
from ..rows.removal import incarnation_of

log = logging.getLogger(__name__)

LONGEST_REASON = 1000


class Holds:
    """Manages the holds of collections. `by` is a token, or `frepo`, which may do all."""

    def __init__(self, database: Database, keep: timedelta) -> None:
        """What a hold has kept in the trash stays there for `keep` after its end."""
        self._database = database
        self._keep = keep

    def set(self, collection_id: str, reason: str, *, by: Identity | None) -> CollectionRecord:
        """Put a collection on hold, or change the reason of its hold, whose time and author stay.

        Raises `FieldsError` if it does not exist, or without a reason.
        """
        reason = check_reason(reason)

        def work(session: Session) -> tuple[CollectionRecord, bool]:
            row = find_collection(session, collection_id, lock=True)
            if row.held_since is not None and row.hold_reason == reason:
                return CollectionRecord.of(row), False
            if row.held_since is None:
                row.held_since, row.held_by = utc_now(), actor_of(by)
            before, row.hold_reason = row.hold_reason, reason
            data = {"before": before} if before else {}
            record(session, collection_event(EventKind.COLLECTION_HELD, row.id, by=by, reason=reason, **data))
            return CollectionRecord.of(row), True

        held, is_new = self._database.write(work)
        if is_new:
            log.info("collection %s: put on hold by %s: %s", held.id, describe_actor(by), reason)
        return held

    def end(self, collection_id: str, *, by: Identity | None) -> CollectionRecord:
        """End the hold of a collection. Without one, nothing changes. Raises `FieldsError` if it does not exist.

        What the hold has kept in the trash stays for the whole time of the trash, so that it can be set again.
        """

        def work(session: Session) -> tuple[CollectionRecord, bool]:
            row = find_collection(session, collection_id, lock=True)
            if row.held_since is None:
                return CollectionRecord.of(row), False
            data = {"since": row.held_since.isoformat(), "held_by": row.held_by, "reason": row.hold_reason}
            record(session, collection_event(EventKind.COLLECTION_HOLD_ENDED, row.id, by=by, **data))
            row.held_since = row.held_by = row.hold_reason = None
            ends_at = utc_now() + self._keep
            sooner = (TrashEntry.incarnation == incarnation_of(row)) & (TrashEntry.ends_at < ends_at)
            session.execute(update(TrashEntry).where(sooner).values(ends_at=ends_at))
            return CollectionRecord.of(row), True

        ended, was_held = self._database.write(work)
        if was_held:
            log.info("collection %s: the hold was ended by %s", ended.id, describe_actor(by))
        return ended

    def page(self, page: PageRequest, *, by: Identity | None) -> Page[CollectionRecord]:
        """Return a page of the collections on hold, by id; `by` is None for `frepo`.

        They are those whose versions the token may list. Raises `FieldsError` for an invalid cursor.
        """
        query: Any = select(Collection).where(Collection.held_since.is_not(None))
        if by is not None and not allows("version.list", by):
            query = query.where(lists_one_of([by.token]))
        with self._database.reading() as session:
            rows = session.scalars(paged(query, page, [Collection.id])).all()
            found = cut(rows, page, lambda row: [row.id])
            return Page(items=[CollectionRecord.of(row) for row in found.items], next=found.next)

    def list(self) -> Sequence[CollectionRecord]:
        """Return all collections on hold, by name."""
        query = select(Collection).where(Collection.held_since.is_not(None))
        with self._database.reading() as session:
            return [CollectionRecord.of(row) for row in session.scalars(query.order_by(Collection.filename))]


def check_reason(reason: str) -> str:
    """Return the reason of a hold without spaces around it. Raises `FieldsError` if it is empty or too long."""
    text = reason.strip()
    if not 1 <= len(text) <= LONGEST_REASON:
        raise FieldsError({"reason": [f"must have 1 to {LONGEST_REASON} characters: people read it where it prevents"]})
    return text
