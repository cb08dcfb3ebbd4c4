"""Deletes second copies whose contents were deleted, after a delay, and never many at once."""

from collections.abc import Callable
from functools import partial

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.clock import read_clock
from frepo_core.db.models import Installation, StoredObject
from frepo_core.domain.structs import struct
from frepo_core.errors import SweepStoppedError
from frepo_core.services.base.batches import batches
from frepo_core.services.base.failpoints import hit
from frepo_core.services.content.objects.gate import Gate
from frepo_core.services.content.objects.states import ObjectState
from frepo_core.services.content.objects.uses import is_base

from .work_queue import BATCH

MAX_PERCENT = 20


@struct
class Departures:
    """The number of copies that begin to leave, and of those that were deleted."""

    leaving: int
    deleted: int


def part_with_copies(database: Database, gate: Gate, storage: str, *, keep_going: Callable[[], None]) -> Departures:
    """Delete those of the objects that are leaving a storage whose delay is over.

    Raises `SweepStoppedError` and deletes nothing if more than 20 % of those in the storage would be deleted within a
    day, unless an operator has confirmed the number. Raises the errors of the storage.
    """
    leaving = database.write(partial(_note_leaving, storage))
    gate.delete_due(storage, keep_going=keep_going)
    with database.reading() as session:
        due = session.scalar(select(func.count(StoredObject.id)).where(*_due(session, storage))) or 0
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
    while due and (batch := gate.delete(_find(database, storage), keep_going=keep_going).objects):
        deleted += batch
        hit("copies_gone")
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


def _note_leaving(storage: str, session: Session) -> int:
    """Return how many objects have begun to leave since the last run."""
    new = (StoredObject.storage == storage, StoredObject.state == ObjectState.LEAVING.value)
    ids = session.scalars(select(StoredObject.id).where(*new, StoredObject.next_try.is_(None))).all()
    for batch in batches(ids, BATCH):
        page = update(StoredObject).where(StoredObject.id.in_(batch))
        session.execute(page.values(next_try=read_clock(session)))
    return len(ids)


def _due(session: Session, storage: str) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions. The base of another object stays until that is gone."""
    is_leaving = (StoredObject.storage == storage, StoredObject.state == ObjectState.LEAVING.value)
    return *is_leaving, StoredObject.delete_after <= read_clock(session), ~is_base()


def _find(database: Database, storage: str) -> list[int]:
    with database.reading() as session:
        query = select(StoredObject.id).where(*_due(session, storage)).order_by(StoredObject.delete_after)
        return list(session.scalars(query.limit(BATCH)))


def _is_too_many(session: Session, storage: str, due: int) -> bool:
    """Return whether the brake stops the deletions. Counts no more rows than that needs: five for each that is due."""

    def count(state: ObjectState, limit: int) -> int:
        of_state = (StoredObject.storage == storage, StoredObject.state == state.value)
        rows = select(StoredObject.id).where(*of_state).limit(limit)
        return session.scalar(select(func.count()).select_from(rows.subquery())) or 0

    confirmed = session.scalar(select(Installation.value).where(Installation.name == _confirmed(storage)))
    if due <= int(confirmed or 0):
        return False
    gone = count(ObjectState.GONE, -(-due * 100 // MAX_PERCENT))  # they are forgotten after a day
    needed = -(-(due + gone) * 100 // MAX_PERCENT)
    states = (ObjectState.PRESENT, ObjectState.LEAVING, ObjectState.DAMAGED, ObjectState.MISSING)
    return gone + sum(count(state, needed) for state in states) < needed


def _forget_gone(database: Database, storage: str) -> None:
    """Delete the rows of objects that are gone for a day."""
    gone = (StoredObject.storage == storage, StoredObject.state == ObjectState.GONE.value)
    with database.reading() as session:
        now = read_clock(session)
        is_over = session.scalar(select(StoredObject.id).where(*gone, StoredObject.next_try <= now).limit(1))
    if is_over:
        database.execute(delete(StoredObject).where(*gone, StoredObject.next_try <= now))
