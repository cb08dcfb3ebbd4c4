"""Deletes second copies whose blobs were deleted, after a delay, and never many at once."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.orm import Session, aliased

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob, BlobCopy, Installation
from frepo_core.errors import SweepStoppedError

from ...content.blobs.failpoints import hit
from ...content.copies.states import LACKING, WITH_BYTES, CopyState
from ...content.storages.backends import Backends
from ...content.storages.write_guard import Presence
from .work_queue import BATCH

MAX_PERCENT = 20
# What was deleted within this time counts as deleted at once.
WINDOW = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Departures:
    """The number of copies that begin to leave, and of those that were deleted."""

    leaving: int
    deleted: int


def part_with_copies(
    database: Database,
    backends: Backends,
    presence: Presence,
    storage: str,
    *,
    delay: timedelta,
    keep_going: Callable[[], None],
) -> Departures:
    """Let the copies of deleted blobs leave; delete those whose `delay` is over.

    Raises `SweepStoppedError` and deletes nothing if more than 20 % of those in the storage would be deleted within a
    day, unless an operator has confirmed the number. Raises the errors of the storage.
    """
    leaving = _let_leave(database, storage, delay, keep_going)
    _delete_remains(database, backends, presence, storage, keep_going)
    with database.reading() as session:
        due = session.scalar(select(func.count()).where(*_due(storage, utc_now()))) or 0
        is_too_many = bool(due) and _is_too_many(session, storage, due)
        was_stopped = session.get(Installation, stopped_name(storage)) is not None
    if is_too_many:
        stopped = Installation(name=stopped_name(storage), value=str(due))
        database.write(lambda session: session.merge(stopped))
        raise SweepStoppedError(
            f"{due} second copies in the storage {storage!r} would be deleted, because their contents were deleted: "
            f"more than {MAX_PERCENT} % within a day. Nothing was deleted. If it is right, confirm the number: frepo "
            f"storage:mirror --storage {storage} --yes-delete {due}"
        )
    if was_stopped:
        database.execute(delete(Installation).where(Installation.name == stopped_name(storage)))
    deleted = 0
    while due and (batch := database.write(lambda session: _note_gone(session, storage, utc_now()))):
        keep_going()
        deleted += batch
        hit("copies_gone")
        _delete_remains(database, backends, presence, storage, keep_going)
    _forget_gone(database, storage)
    if deleted:
        database.execute(delete(Installation).where(Installation.name == _confirmed(storage)))
    return Departures(leaving=leaving, deleted=deleted)


def confirm_departures(database: Database, storage: str, most: int) -> None:
    """Let the next run delete up to `most` copies, however large their share is."""
    database.write(lambda session: session.merge(Installation(name=_confirmed(storage), value=str(most))))


def stopped_name(storage: str) -> str:
    """Return the name of the value in the table `installation` with the number of deletions that were stopped."""
    return f"mirror.stopped.{storage}"


def _confirmed(storage: str) -> str:
    """Return the name of the value in the table `installation` that has the number."""
    return f"mirror.confirmed.{storage}"


def _let_leave(database: Database, storage: str, delay: timedelta, keep_going: Callable[[], None]) -> int:
    """Note that the blobs of copies were deleted. A copy without bytes is forgotten."""
    total = 0
    for state in {*LACKING, *WITH_BYTES} - {CopyState.LEAVING}:
        while True:
            keep_going()
            is_left = (BlobCopy.blob_id.is_(None), BlobCopy.state == state.value, BlobCopy.storage == storage)
            with database.reading() as session:
                ids = session.scalars(select(BlobCopy.id).where(*is_left).limit(BATCH)).all()
            if not ids:
                break
            database.write(
                lambda session, ids=ids, is_left=is_left: _note_leaving(  # type: ignore[misc]
                    session, BlobCopy.id.in_(ids), *is_left, until=utc_now() + delay
                )
            )
            total += len(ids)
            hit("copies_leaving")
    return total


def _note_leaving(session: Session, *condition: ColumnElement[bool], until: datetime) -> None:
    for row in session.scalars(select(BlobCopy).where(*condition).with_for_update()):
        if row.key is None:
            session.delete(row)
        else:
            row.state, row.delete_after = CopyState.LEAVING.value, until


def _due(storage: str, now: datetime) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions. The base of another copy stays until that is gone."""
    dependent = aliased(BlobCopy)
    needs_it = (dependent.base_digest == BlobCopy.digest, dependent.storage == storage)
    has_bytes = dependent.state.in_([state.value for state in WITH_BYTES])
    is_base = select(dependent.id).where(*needs_it, has_bytes).correlate(BlobCopy).exists()
    is_over = BlobCopy.delete_after <= now
    return BlobCopy.storage == storage, BlobCopy.state == CopyState.LEAVING.value, is_over, ~is_base


def _is_too_many(session: Session, storage: str, due: int) -> bool:
    """Return whether the brake stops the deletions. Counts no more rows than that needs: five for each that is due."""

    def count(state: CopyState, limit: int) -> int:
        rows = select(BlobCopy.id).where(BlobCopy.storage == storage, BlobCopy.state == state.value).limit(limit)
        return session.scalar(select(func.count()).select_from(rows.subquery())) or 0

    confirmed = session.scalar(select(Installation.value).where(Installation.name == _confirmed(storage)))
    if due <= int(confirmed or 0):
        return False
    gone = count(CopyState.GONE, -(-due * 100 // MAX_PERCENT))  # they are forgotten after a day
    needed = -(-(due + gone) * 100 // MAX_PERCENT)
    states = (CopyState.PRESENT, CopyState.LEAVING, CopyState.DAMAGED, CopyState.MISSING)
    found = gone + sum(count(state, needed) for state in states)
    return found < needed and found + _count_blobs(session, storage, needed) < needed


def _count_blobs(session: Session, storage: str, limit: int) -> int:
    """Return how many first copies are in the storage: it may have been promoted."""
    blobs = select(Blob.id).where(Blob.storage == storage).limit(limit)
    return session.scalar(select(func.count()).select_from(blobs.subquery())) or 0


def _note_gone(session: Session, storage: str, now: datetime) -> int:
    """Note that copies are gone, before their bytes are deleted: nothing takes them for a new blob any more."""
    query = select(BlobCopy).where(*_due(storage, now)).order_by(BlobCopy.delete_after).limit(BATCH)
    rows = session.scalars(query.with_for_update()).all()
    for row in rows:
        row.state, row.next_try = CopyState.GONE.value, now + WINDOW
    return len(rows)


def _delete_remains(
    database: Database, backends: Backends, presence: Presence, storage: str, keep_going: Callable[[], None]
) -> None:
    """Delete the bytes of copies that are gone, also those that a killed process has left."""
    has_bytes = (BlobCopy.storage == storage, BlobCopy.state == CopyState.GONE.value, BlobCopy.key.is_not(None))
    while True:
        with database.reading() as session:
            rows = session.execute(select(BlobCopy.id, BlobCopy.key).where(*has_bytes).limit(BATCH)).all()
        if not rows:
            return
        presence.require(storage)
        backend = backends.get(storage)
        for row in rows:
            keep_going()
            backend.delete(row.key)
            hit("copy_deleted")
        ids = [row.id for row in rows]
        database.write(lambda session, ids=ids: _forget_keys(session, ids))  # type: ignore[misc]


def _forget_keys(session: Session, ids: list[int]) -> None:
    for row in session.scalars(select(BlobCopy).where(BlobCopy.id.in_(ids)).with_for_update()):
        row.key = None


def _forget_gone(database: Database, storage: str) -> None:
    """Delete the rows of copies that are gone for a day."""
    gone = (BlobCopy.storage == storage, BlobCopy.state == CopyState.GONE.value, BlobCopy.key.is_(None))
    with database.reading() as session:
        is_over = session.scalar(select(BlobCopy.id).where(*gone, BlobCopy.next_try <= utc_now()).limit(1))
    if is_over:
        database.execute(delete(BlobCopy).where(*gone, BlobCopy.next_try <= utc_now()))
