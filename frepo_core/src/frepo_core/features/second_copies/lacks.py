"""What a storage for second copies lacks: counting it, and finding copies that were made and are missing."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from sqlalchemy import CursorResult, func, select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.clock import read_clock
from frepo_core.db.models import StoredObject
from frepo_core.domain.structs import struct
from frepo_core.errors import BlobNotFound
from frepo_core.services.content.objects.states import CURRENT, LACKING, ObjectState
from frepo_core.services.content.storages.backends import Backends

PAGE = 500


@struct
class Lack:
    """The number of copies to make, and their size in bytes."""

    copies: int
    size: int


def read_lack(database: Database, storage: str) -> Lack:
    """Return how many copies are to be made in the storage."""
    copies = size = 0
    with database.reading() as session:
        for state in LACKING:
            query = select(func.count(), func.sum(StoredObject.size))
            found = session.execute(
                query.where(
                    StoredObject.storage == storage, StoredObject.state == state.value, StoredObject.slot == CURRENT
                )
            ).one()
            copies, size = copies + found[0], size + int(found[1] or 0)
    return Lack(copies=copies, size=size)


def make_due(database: Database, storage: str) -> None:
    """End the pauses after failures."""

    def work(session: Session) -> None:
        now = read_clock(session)
        for state in LACKING:
            waiting = (StoredObject.storage == storage, StoredObject.state == state.value, StoredObject.next_try > now)
            session.execute(update(StoredObject).where(*waiting, StoredObject.attempts > 0).values(next_try=now))

    database.write(work)


def find_missing(database: Database, backends: Backends, storage: str, *, keep_going: Callable[[], None]) -> int:
    """Mark the copies whose bytes are missing or have another size; return their number. No byte is read."""
    backend, found, after = backends.get(storage), 0, 0
    while True:
        present = (
            StoredObject.storage == storage,
            StoredObject.state == ObjectState.PRESENT.value,
            StoredObject.id > after,
        )
        query = select(StoredObject).where(*present).order_by(StoredObject.id).limit(PAGE)
        with database.reading() as session:
            rows = session.scalars(query).all()
        if not rows:
            return found
        missing = []
        for row in rows:
            keep_going()
            try:
                is_there = backend.stat(str(row.key)).size == row.object_size
            except BlobNotFound:
                is_there = False
            missing += [] if is_there else [row.id]
        if missing:
            found += database.write(partial(_mark_missing, missing))
        after = rows[-1].id


def _mark_missing(object_ids: Sequence[int], session: Session) -> int:
    now = read_clock(session)
    lost = update(StoredObject).where(StoredObject.id.in_(object_ids), StoredObject.state == ObjectState.PRESENT.value)
    result = session.execute(lost.values(state=ObjectState.MISSING.value, since=now, next_try=now))
    return int(cast(CursorResult[Any], result).rowcount)
