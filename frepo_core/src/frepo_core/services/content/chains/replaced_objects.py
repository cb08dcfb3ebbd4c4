"""Deletes the bytes that blobs had before they were stored in another way."""

import logging
from collections.abc import Callable
from functools import partial

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob, ReplacedObject
from frepo_core.errors import BlobRetained

from ..blobs.failpoints import hit
from ..storages.backends import Backends
from ..storages.write_guard import Presence

log = logging.getLogger(__name__)

PAGE = 100


def delete_replaced(
    database: Database,
    backends: Backends,
    presence: Presence,
    storage: str,
    *,
    keep_going: Callable[[], None] = lambda: None,
) -> int:
    """Delete the replaced bytes in a storage whose time is over; return their number. Raises errors of the storage."""
    due = select(ReplacedObject).where(ReplacedObject.storage == storage, ReplacedObject.delete_after <= utc_now())
    deleted = 0
    while True:
        with database.reading() as session:
            rows = session.scalars(due.order_by(ReplacedObject.delete_after).limit(PAGE)).all()
        if not rows:
            return deleted
        presence.require(storage)
        for row in rows:
            keep_going()
            if database.write(partial(_forget, row.id), may_use_reserve=True):
                hit("replaced_forgotten")
                deleted += _delete(backends, row)


def _forget(replaced_id: int, session: Session) -> bool:
    """Delete the row; return whether the bytes may be deleted: a recovery may have read them back meanwhile."""
    row = session.scalar(select(ReplacedObject).where(ReplacedObject.id == replaced_id).with_for_update())
    if row is None:
        return False
    session.delete(row)
    named = select(Blob.id).where(Blob.storage == row.storage, Blob.key == row.key)
    return session.scalar(named) is None


def _delete(backends: Backends, row: ReplacedObject) -> int:
    try:
        backends.get(row.storage).delete(row.key)
    except BlobRetained as error:
        log.info("a sweep will delete %s, which was replaced: %s", row.key, error.message)
        return 0
    return 1
