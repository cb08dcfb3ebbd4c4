"""Notes what was found out about objects by reading them: damage and its end, with their events."""

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from frepo_core.db.clock import read_clock
from frepo_core.db.models import StoredObject
from frepo_core.domain.identity import By

from ...events.blob_facts import blob_damaged, blob_healed, copy_damaged
from ...events.recording import record
from ..storages.backends import Backends
from .blob_damage import MISSING
from .decodable import find_dependents
from .states import SOUND, ObjectState
from .uses import is_second_copy


def mark_damaged(
    session: Session, backends: Backends, seen: StoredObject, problem: str, *, by: By, only: bool = False
) -> bool:
    """Note that an object, as its row was read, is wrong or missing, with an event if that is new.

    Return False if it is not what it was. With `only`, also if its damage is known already.
    """
    row = _lock(session, seen)
    if row is None or (only and row.state not in SOUND):
        return False
    now, was_sound, was_current = read_clock(session), row.state in SOUND, row.slot is not None
    row.state = (ObjectState.MISSING if problem == MISSING else ObjectState.DAMAGED).value
    row.read_at = row.next_try = now
    if row.slot is None and row.delete_after is None:
        row.delete_after = now
    if not was_sound:
        return True
    row.since, row.error = now, problem[:500]
    if was_current:
        note_damage(session, backends, row, problem, by=by)
    verify_dependents(session, row)
    return True


def note_damage(session: Session, backends: Backends, row: StoredObject, problem: str, *, by: By) -> None:
    """Record the event about an object that was found to be wrong or missing."""
    is_second = is_second_copy(backends, row)
    record(session, copy_damaged(row, problem, by=by) if is_second else blob_damaged(session, row, problem, by=by))


def mark_sound(session: Session, backends: Backends, seen: StoredObject, *, by: By) -> bool:
    """Note that an object, as its row was read, was read and is sound. Return False if it is not what it was."""
    row = _lock(session, seen)
    if row is None:
        return False
    now, was_damaged = read_clock(session), row.state in {ObjectState.DAMAGED, ObjectState.MISSING}
    row.read_at = now
    if was_damaged or row.state == ObjectState.FOUND:
        back = ObjectState.PRESENT if row.slot is not None else ObjectState.SUPERSEDED
        row.state, row.since, row.error, row.next_try, row.attempts = back.value, now, None, None, 0
        verify_dependents(session, row)
    if was_damaged and row.slot is not None:
        note_healed(session, backends, row, by=by)
    return True


def note_healed(session: Session, backends: Backends, row: StoredObject, *, by: By) -> None:
    """Record that a first copy is sound again, or was stored anew. Second copies have no such event."""
    if not is_second_copy(backends, row):
        record(session, blob_healed(session, row, by=by))


def verify_dependents(session: Session, row: StoredObject) -> None:
    """Let all that depends on an object in its storage be read next: it was found damaged, or is sound again."""
    session.flush()
    states = (*SOUND, ObjectState.DAMAGED, ObjectState.MISSING)
    for level in find_dependents(session, row.digest, row.storage, states=states):
        ids = [dependent.id for dependent in level]
        session.execute(update(StoredObject).where(StoredObject.id.in_(ids)).values(read_at=None))


def _lock(session: Session, seen: StoredObject) -> StoredObject | None:
    states = [*SOUND, ObjectState.FOUND, ObjectState.DAMAGED, ObjectState.MISSING]
    query = select(StoredObject).where(StoredObject.storage == seen.storage, StoredObject.key == seen.key)
    return session.scalar(query.where(StoredObject.state.in_(states)).with_for_update())
