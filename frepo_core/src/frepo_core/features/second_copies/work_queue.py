"""The queue of objects to make: which are due. Rows change in batches, one transaction each."""

from collections.abc import Collection
from functools import partial

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.clock import read_clock
from frepo_core.db.models import StoredObject
from frepo_core.services.content.objects.states import CURRENT, LACKING
from frepo_core.services.content.storages.backends import Backends

from .copier import CopyTask
from .copy_claims import claim, has_source

BATCH = 100


def claim_batch(database: Database, backends: Backends, storage: str, but: Collection[int]) -> list[CopyTask]:
    """Return objects that are due, at most 100, the newest first, without those with these ids.

    Each gets a key of its own, which is committed before its bytes are stored: a process that is killed leaves no bytes
    that nobody knows.
    """
    with database.reading() as session:  # most of the time nothing is due, and then nobody else has to wait
        due = select(StoredObject.id).where(
            StoredObject.storage == storage,
            StoredObject.slot == CURRENT,
            StoredObject.next_try <= read_clock(session),
            StoredObject.id.not_in(but),
            has_source(),
        )
        if not any(session.scalar(due.where(StoredObject.state == state.value).limit(1)) for state in LACKING):
            return []
    return database.write(partial(_claim, backends, storage, but))


def _claim(backends: Backends, storage: str, but: Collection[int], session: Session) -> list[CopyTask]:
    now, tasks = read_clock(session), list[CopyTask]()
    for state in LACKING:
        due = (StoredObject.storage == storage, StoredObject.state == state.value, StoredObject.next_try <= now)
        claimed = [*but, *(task.id for task in tasks)]  # they are in the state `writing` now
        query = select(StoredObject).where(*due, StoredObject.slot == CURRENT, StoredObject.id.not_in(claimed))
        query = query.where(has_source())
        query = query.order_by(StoredObject.next_try.desc(), StoredObject.id.desc()).limit(BATCH - len(tasks))
        for row in session.scalars(query.with_for_update()).all():
            if (task := claim(session, backends, row)) is not None:
                tasks.append(task)
    session.flush()
    return tasks
