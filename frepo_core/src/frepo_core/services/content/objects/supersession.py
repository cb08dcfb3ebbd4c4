"""Lets another object take the place of one: what it was is kept for a time."""

from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db.clock import read_clock
from frepo_core.db.models import StoredObject

from ..storages.backends import Backends
from .gate import give_up
from .promises import find_promises
from .states import CURRENT, ObjectState
from .uses import is_second_copy

# A database that is restored from the last night names what was superseded since.
KEPT_FOR = timedelta(hours=48)


def supersede(session: Session, row: StoredObject, *, keeps: timedelta | None) -> None:
    """Let a current object give up its place. Afterwards `since` is the time of that.

    It is kept for `keeps`, None: until somebody deletes it. One that is damaged or missing is deleted when that is
    allowed. One that was not made yet has no bytes.
    """
    now = read_clock(session)
    if row.key is None:
        row.since = now
        session.delete(row)
    elif row.state in {ObjectState.WANTED, ObjectState.WRITING}:
        give_up(session, row)
    elif row.state == ObjectState.PRESENT:
        row.state, row.delete_after = ObjectState.SUPERSEDED.value, None if keeps is None else now + keeps
        row.slot, row.since, row.next_try = None, now, None
    else:
        row.slot, row.delete_after, row.since = None, now, now
    session.flush()


def supersede_unpromised(session: Session, backends: Backends, content_id: int, *, keeps: timedelta | None) -> int:
    """Let the first copies of a locked content give up their places in storages that promise it no more.

    Second copies stay, and what others need as their base. Return the number of objects.
    """
    session.flush()
    promise = find_promises(session, backends, [content_id])[content_id]
    current, superseded = (StoredObject.content_id == content_id, StoredObject.slot == CURRENT), 0
    for row in session.scalars(select(StoredObject).where(*current).order_by(StoredObject.id).with_for_update()).all():
        is_kept = row.storage in promise.storages | promise.as_base or is_second_copy(backends, row)
        if not is_kept:
            supersede(session, row, keeps=keeps)
            superseded += 1
    return superseded
