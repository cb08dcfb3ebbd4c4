"""The locks of a collection's versions, in the database: when they end, by which clocks, and how they are extended."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, func, select, true, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from frepo_core.db import utc_now
from frepo_core.db.clock import clock_query
from frepo_core.db.models import Collection, TrashEntry, Version
from frepo_core.db.types import is_simulated
from frepo_core.domain.backups.locks import check_lock, extended, is_locked, lock_end, require_unlocked


def read_clocks(session: Session) -> list[datetime]:
    """Return the time of this host and that of the database (aware, UTC). SQLite has the clock of the host."""
    query = None if is_simulated() else clock_query(session.get_bind().dialect.name)
    return [utc_now()] if query is None else [utc_now(), session.execute(query).scalar_one()]


def end_of_new(session: Session, collection: Collection) -> datetime | None:
    """Return until when the version is locked that is added now to a locked collection."""
    newest = session.scalar(select(func.max(Version.created_at)).where(Version.collection_id == collection.id))
    return lock_end(_length(collection), [*read_clocks(session), *([newest] if newest else [])])


def require_removable(session: Session, rows: Iterable[Version | TrashEntry]) -> None:
    """Raise `VersionLockedError` if one of the versions is locked. All that removes versions calls this."""
    ends = [row.locked_until for row in rows]
    if any(ends):  # the clock of a server costs a query
        require_unlocked(ends, read_clocks(session))


def are_locked(session: Session, rows: Sequence[Version]) -> list[bool]:
    """Return for each version whether it is locked."""
    clocks = read_clocks(session) if any(row.locked_until for row in rows) else []
    return [is_locked(row.locked_until, clocks) for row in rows]


def is_unlocked(column: InstrumentedAttribute[datetime | None], session: Session) -> ColumnElement[bool]:
    """Return the condition that a version is not locked, or not any more."""
    return func.coalesce(column <= min(read_clocks(session)), true())


def lock(session: Session, collection: Collection, length: timedelta) -> None:
    """Lock a collection, whose row is locked by the transaction, or extend its lock. Raises `LockShortenedError`.

    The versions that it has, and those in its trash, are locked as if the lock had been there when they arrived.
    """
    before = _length(collection)
    check_lock(before, length)
    if length == before:
        return
    collection.locked = int(length.total_seconds())
    incarnation = collection.incarnation or collection.id
    for model, belongs in (
        (Version, Version.collection_id == collection.id),
        (TrashEntry, TrashEntry.incarnation == incarnation),
    ):
        _extend(session, model, belongs, before, length)
    stays = (TrashEntry.incarnation == incarnation) & (TrashEntry.ends_at < TrashEntry.locked_until)
    session.execute(update(TrashEntry).where(stays).values(ends_at=TrashEntry.locked_until))
    session.expire_all()


def _extend(session: Session, model: Any, belongs: ColumnElement[bool], before: timedelta, after: timedelta) -> None:
    """Lock the versions that are young enough, or whose lock is not over."""
    start = min(read_clocks(session)) - after
    query = select(model.id, model.created_at, model.locked_until).where(belongs)
    query = query.where((model.created_at > start) | (model.locked_until > start + after))
    changes = [
        {"id": row.id, "locked_until": extended(row.locked_until, row.created_at, before=before, after=after)}
        for row in session.execute(query)
    ]
    session.flush()
    if changes:
        session.execute(update(model), changes)


def _length(collection: Collection) -> timedelta:
    return timedelta(seconds=collection.locked or 0)
