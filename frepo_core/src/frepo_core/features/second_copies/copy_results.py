"""Records what became of copies. Rows change in batches, one transaction each."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.clock import read_clock
from frepo_core.db.models import StoredObject
from frepo_core.domain.identity import By
from frepo_core.services.content.objects.decodable import find_base_path
from frepo_core.services.content.objects.gate import give_up, lock_contents, note_doomed
from frepo_core.services.content.objects.marks import note_healed, verify_dependents
from frepo_core.services.content.objects.states import CURRENT, DELTA, LACKING, ObjectState
from frepo_core.services.content.objects.wishes import wish
from frepo_core.services.content.storages.backends import Backends

from .copier import CopyResult, Outcome

FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=30), timedelta(hours=1)
MAX_PROBLEM = 500


def record_results(
    database: Database, backends: Backends, results: Sequence[CopyResult], *, by: By = None
) -> list[int]:
    """Record what became of copies. Return the ids of objects that are to be deleted: what they have replaced."""
    return database.write(partial(_record, backends, results, by)) if results else []


def _record(backends: Backends, results: Sequence[CopyResult], by: By, session: Session) -> list[int]:
    now = read_clock(session)
    lock_contents(session, [result.task.content_id for result in results])
    query = select(StoredObject).where(StoredObject.id.in_([result.task.id for result in results]))
    rows = {row.id: row for row in session.scalars(query.order_by(StoredObject.id).with_for_update())}
    ended: list[int] = []
    for result in results:
        row = rows.get(result.task.id)
        if row is None or row.key != result.task.key or row.slot != CURRENT or row.state not in LACKING:
            ended += [row.id] if row is not None and row.state == ObjectState.DOOMED else []
        elif result.outcome is Outcome.PRESENT:
            is_made = row.state != ObjectState.WRITING or _is_decodable(session, row)
            ended += (
                _note_present(session, backends, row, result, now, by)
                if is_made
                else want_again(session, row, now, has_bytes=True)
            )
        elif result.outcome is Outcome.AGAIN:
            ended += want_again(session, row, now)
        else:
            _note_failed(row, result, now)
    return ended


def _is_decodable(session: Session, row: StoredObject) -> bool:
    """Return whether the storage still decodes the base of a new object, if it is a difference: it is no copy else."""
    return row.encoding != DELTA or find_base_path(session, row, str(row.base_digest), row.storage) is not None


def _note_present(
    session: Session, backends: Backends, row: StoredObject, result: CopyResult, now: datetime, by: By
) -> list[int]:
    """Note that an object is there and was read. Return the damaged ones that it has replaced."""
    was_damaged = row.state in {ObjectState.DAMAGED, ObjectState.MISSING}
    row.state, row.since, row.read_at = ObjectState.PRESENT.value, now, now
    row.stored_at = row.stored_at if was_damaged else now
    row.attempts, row.error, row.next_try = 0, None, _find_next_try(session, result, now)
    same = (StoredObject.content_id == row.content_id, StoredObject.storage == row.storage)
    bad = StoredObject.state.in_([ObjectState.DAMAGED, ObjectState.MISSING])
    replaced = session.scalars(select(StoredObject.id).where(*same, bad, StoredObject.slot.is_(None))).all()
    if result.task.is_repair or was_damaged:
        note_healed(session, backends, row, by=by)
        verify_dependents(session, row)
    return list(replaced)


def _find_next_try(session: Session, result: CopyResult, now: datetime) -> datetime | None:
    """Return when the object is made again: now, if the content was stored in another way meanwhile."""
    source = result.task.source
    if source is None:
        return None
    is_current = (StoredObject.id == source.id, StoredObject.slot == CURRENT)
    was_current = source.slot == CURRENT
    return now if was_current and session.scalar(select(StoredObject.id).where(*is_current)) is None else None


def want_again(session: Session, row: StoredObject, now: datetime, *, has_bytes: bool = False) -> list[int]:
    """Let another object be made in place of one that has no sound bytes, or with `has_bytes` none that are decodable.

    Return its id if it is to be deleted. One that is damaged stays until the other one is there.
    """
    values = wish(row.content_id or 0, row.digest, row.size, row.storage, row.since, now, row.role)
    ended = [row.id] if row.state in {ObjectState.WANTED, ObjectState.WRITING} else []
    if ended:
        (give_up if has_bytes else note_doomed)(session, row)
    else:
        row.slot, row.delete_after, row.next_try = None, now, None
    session.flush()
    session.add(StoredObject(**values, attempts=row.attempts, error=row.error))
    session.flush()
    return ended


def _note_failed(row: StoredObject, result: CopyResult, now: datetime) -> None:
    if row.state == ObjectState.WRITING:
        row.state = ObjectState.WANTED.value
    row.next_try = now + min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(row.attempts, 20))
    row.attempts += 1
    row.error = (result.problem or "")[:MAX_PROBLEM]
