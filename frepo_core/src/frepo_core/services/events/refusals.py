"""Records refused uploads of versions: one event a minute for each token, collection and reason, with a count."""

import contextlib
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection, Event
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Identity, describe_actor
from frepo_core.domain.naming import printable
from frepo_core.domain.sizes import readable_size
from frepo_core.errors import (
    BodyEndedError,
    CollectionFullError,
    DigestMismatchError,
    EmptyContentError,
    FrepoError,
    IdempotencyConflictError,
    RuleError,
    StorageFull,
    TooBigError,
    TooManyVersionsError,
    TypeNotAllowedError,
    VersionConflictError,
    VersionLockedError,
    VersionTooYoungError,
)

from ..base.records import CollectionRecord
from .aborted_uploads import AbortedUploads
from .event_counts import INTERVAL, Counts
from .recording import NewEvent, record

log = logging.getLogger(__name__)

REFUSALS = (
    DigestMismatchError,
    EmptyContentError,
    IdempotencyConflictError,
    RuleError,
    StorageFull,
    TooBigError,
    TypeNotAllowedError,
    VersionConflictError,
)


@dataclass
class Attempt:
    """An upload that may be refused. `size` is its size in bytes, None while that is not known."""

    size: int | None = None


class Refusals:
    """Records refusals. That never changes the answer to the client: errors are logged.

    `aborted` records uploads whose bodies did not end.
    """

    def __init__(self, database: Database, *, is_read_only: bool) -> None:
        self._database = database
        self._is_read_only = is_read_only
        self._counts = Counts()
        self.aborted = AbortedUploads(database, is_read_only=is_read_only)

    @contextlib.contextmanager
    def recorded(self, collection: CollectionRecord, *, by: Identity, size: int | None) -> Iterator[Attempt]:
        """Log and record a refusal that the body of the `with` statement raises. The body sets the size when known."""
        attempt = Attempt(size=size)
        try:
            yield attempt
        except REFUSALS as error:
            _log(collection, error, by=by, size=attempt.size)
            self.record(collection.id, error, by=by, size=attempt.size)
            raise
        except BodyEndedError as error:
            self.aborted.record(collection.id, by=by, received=error.received, size=size, reason="disconnected")
            raise

    def record(self, collection_id: str, error: FrepoError, *, by: Identity, size: int | None = None) -> None:
        """Record that an upload to a collection was refused, unless there is an event of the last minute about it.

        Nothing is recorded in read-only mode.
        """
        if self._is_read_only:
            return
        reason = _reason(error)
        key = (by.fingerprint, collection_id, reason)
        count = self._counts.take(key)
        if not count:
            return
        data = {"reason": reason, "message": _message(error), "error": error.number, "size": size, "count": count}
        event = NewEvent(kind=EventKind.VERSION_REFUSED, by=by, collection_id=collection_id, data=data)
        try:
            if not self._database.write(lambda session: _write(session, event, error, size), may_use_reserve=True):
                self._counts.put_back(key, count)
        except Exception:
            self._counts.put_back(key, count)
            log.exception("collection %s: a refused upload was not recorded as an event", collection_id)


def _log(collection: CollectionRecord, error: FrepoError, *, by: Identity, size: int | None) -> None:
    """Log a line about the refusal, except of `frepo`: that prints the error itself."""
    if by.token:
        what = "a version" if size is None else f"a version of {readable_size(size)}"
        why = describe_refusal(error)
        name, who = collection.filename, describe_actor(by)
        log.warning("collection %s (%r): %s by %s was refused: %s", collection.id, name, what, who, why)
        error.is_logged = True


def _write(session: Session, event: NewEvent, error: FrepoError, size: int | None) -> bool:
    """Insert the events about a refusal. Return False if another process has recorded such a refusal in this minute.

    The row of the collection is locked, so that processes do this one after the other.
    """
    row = session.scalar(select(Collection).where(Collection.id == event.collection_id).with_for_update())
    if row is None:
        return True
    events = [] if _was_recorded(session, event) else [event]
    if row.full_since is None and _lacks_room(row, error, size):
        row.full_since = utc_now()
        events.append(_full(row, event))
    record(session, *events)
    return event in events


def _was_recorded(session: Session, event: NewEvent) -> bool:
    query = select(Event.data).where(
        Event.at > utc_now() - INTERVAL,
        Event.kind == event.kind,
        Event.collection_id == event.collection_id,
        Event.actor == (event.by.fingerprint if isinstance(event.by, Identity) else None),
    )
    return any(data["reason"] == event.data["reason"] for data in session.scalars(query))


def _full(row: Collection, refusal: NewEvent) -> NewEvent:
    data: dict[str, Any] = {name: refusal.data[name] for name in ("reason", "message", "size")}
    data |= {"versions": row.versions_count, "stored_size": row.stored_size}
    return NewEvent(kind=EventKind.COLLECTION_FULL, by=refusal.by, collection_id=row.id, data=data)


def _lacks_room(row: Collection, error: FrepoError, size: int | None) -> bool:
    """Return whether the storage is full, or the upload would fit into the collection if that were empty.

    An upload that its client gave up needs none: newer ones have arrived.
    """
    if isinstance(error, CollectionFullError):
        return (
            size is not None and size <= row.max_collection_size and (error.context or {}).get("reason") != "overtaken"
        )
    return isinstance(error, StorageFull | TooManyVersionsError | VersionTooYoungError | VersionLockedError)


def _reason(error: FrepoError) -> str:
    """Return the text of a rule, or the name of another error as `too_big` for `TooBigError`."""
    if isinstance(error, RuleError):
        return error.text
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__.removesuffix("Error")).lower()


def describe_refusal(error: FrepoError) -> str:
    """Return why an upload was refused, for the log: in one line, which a quoted part of the content cannot change."""
    # A rule of a plug-in has only its text.
    text = error.text if isinstance(error, RuleError) and not error.explanation else _message(error)
    return printable(" ".join(text.split()))


def _message(error: FrepoError) -> str:
    return error.explanation or error.message
