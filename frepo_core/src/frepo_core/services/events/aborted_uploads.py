"""Records uploads of versions that broke off: one event a minute for each token and collection, with a count."""

import logging
from typing import Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection, Event
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Identity, describe_actor

from .event_counts import INTERVAL, Counts
from .recording import NewEvent, record

log = logging.getLogger(__name__)

# Why a body did not end: the client closed the connection, it was silent or slow for too long, or it was closed to make
# room for others.
AbortReason = Literal["disconnected", "timeout", "too_many_connections"]


class AbortedUploads:
    """Records uploads whose bodies did not end. There is nobody to answer any more: errors are logged."""

    def __init__(self, database: Database, *, is_read_only: bool) -> None:
        self._database = database
        self._is_read_only = is_read_only
        self._counts = Counts()

    def record(self, collection_id: str, *, by: Identity, received: int, size: int | None, reason: AbortReason) -> None:
        """Record that an upload broke off after `received` bytes of `size` (None: it was not announced).

        There is no event if there is one of the last minute about this token and collection, or in read-only mode.
        """
        text = "collection %s: an upload by %s broke off after %d bytes: %s"
        log.warning(text, collection_id, describe_actor(by), received, reason)
        if self._is_read_only:
            return
        key = (by.fingerprint, collection_id, "")
        count = self._counts.take(key)
        if not count:
            return
        data = {"received": received, "size": size, "reason": reason, "count": count}
        event = NewEvent(kind=EventKind.UPLOAD_ABORTED, by=by, collection_id=collection_id, data=data)
        try:
            if not self._database.write(lambda session: _write(session, event, by), may_use_reserve=True):
                self._counts.put_back(key, count)
        except Exception:
            self._counts.put_back(key, count)
            log.exception("collection %s: an upload that broke off was not recorded as an event", collection_id)


def _write(session: Session, event: NewEvent, by: Identity) -> bool:
    """Insert the event. Return False if another process has recorded one in this minute.

    The row of the collection is locked, so that processes do this one after the other.
    """
    row = session.scalar(select(Collection.id).where(Collection.id == event.collection_id).with_for_update())
    if row is None:
        return True
    query = select(Event.id).where(
        Event.at > utc_now() - INTERVAL,
        Event.kind == event.kind,
        Event.collection_id == event.collection_id,
        Event.actor == by.fingerprint,
    )
    if session.scalar(query.limit(1)) is not None:
        return False
    record(session, event)
    return True
