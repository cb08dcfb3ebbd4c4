"""Whether an upload may use the object that there is, and how a damaged one gives way to new bytes."""

from typing import Any

from sqlalchemy import Row, bindparam, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.clock import read_clock
from frepo_core.db.models import StoredObject
from frepo_core.domain.identity import By
from frepo_core.errors import BlobNotFound

from ..objects.decodable import MOST_LEVELS
from ..objects.gate import give_up
from ..objects.marks import note_damage, verify_dependents
from ..objects.states import CURRENT, DELTA, ObjectState
from ..storages.backends import Backends

_OBJECT = StoredObject.__table__
_BASE = select(
    _OBJECT.c.storage,
    _OBJECT.c.key,
    _OBJECT.c.state,
    _OBJECT.c.size,
    _OBJECT.c.stored_size,
    _OBJECT.c.encoding,
    _OBJECT.c.base_digest,
).where(_OBJECT.c.digest == bindparam("digest"), _OBJECT.c.storage == bindparam("storage"), _OBJECT.c.slot == CURRENT)


def is_chain_there(database: Database, backends: Backends, row: Row[Any]) -> bool:
    """Return whether an object and all that it needs exist with the right sizes, and none is known to be damaged.

    `row` has the columns storage, key, state, size, stored_size, encoding and base_digest of an object.
    """
    for _ in range(MOST_LEVELS):
        if row.state != ObjectState.PRESENT or not _is_there(backends, row):
            return False
        if row.encoding != DELTA:
            return True
        found = database.fetch_rows(_BASE, digest=row.base_digest, storage=row.storage)
        if not found:  # the content was stored in another way in this moment
            return False
        row = found[0]
    return False


def _is_there(backends: Backends, row: Row[Any]) -> bool:
    try:
        found = backends.get(row.storage).stat(row.key).size
    except BlobNotFound:
        return False
    return bool(found == (row.size if row.stored_size is None else row.stored_size))


def give_way(session: Session, backends: Backends, row: StoredObject, problem: str, *, by: By) -> list[int]:
    """Let an object give up its place to new bytes, because it is damaged, missing, or was not made yet.

    Its damage may not be known yet: then `problem` is recorded. Return its id, if it has bytes to be deleted after the
    commit.
    """
    if row.key is None:
        session.delete(row)
        session.flush()
        return []
    if row.state in {ObjectState.WANTED, ObjectState.WRITING}:
        give_up(session, row)
        return [row.id]
    now = read_clock(session)
    if row.state == ObjectState.PRESENT:
        note_damage(session, backends, row, problem, by=by)
        row.state, row.since = ObjectState.DAMAGED.value, now
    row.slot, row.delete_after = None, now
    verify_dependents(session, row)
    return [row.id]
