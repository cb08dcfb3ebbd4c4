"""Lets another object take the place of one: what it was is kept for a time."""

from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db.clock import read_clock
from frepo_core.db.models import StoredObject

from ..storages.backends import Backends
from .gate import give_up
from .promises import find_promises
from .states import CURRENT, RAW, ObjectState
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


def take_place(
    session: Session,
    row: StoredObject,
    *,
    key: str,
    encoding: str,
    size: int,
    digest: str,
    base_digest: str | None,
    keeps: timedelta | None,
) -> None:
    """Let another object, which was stored and read back, take the place of a current one, which is kept for `keeps`.

    `size` and `digest` (SHA-256) are those of its bytes.
    """
    supersede(session, row, keeps=keeps)
    is_raw = encoding == RAW
    new = StoredObject(
        content_id=row.content_id,
        digest=row.digest,
        size=row.size,
        storage=row.storage,
        key=key,
        encoding=encoding,
        stored_size=None if is_raw else size,
        stored_digest=None if is_raw else digest,
        base_digest=base_digest,
        state=ObjectState.PRESENT.value,
        slot=CURRENT,
        role=row.role,
        since=row.since,
        stored_at=row.since,
        read_at=row.since,
    )
    session.add(new)
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
