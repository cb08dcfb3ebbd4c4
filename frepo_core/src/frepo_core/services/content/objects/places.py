"""Finds the objects from which a content can be read, in the order in which they are tried."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db.models import StoredObject

from .states import CURRENT, RAW, READABLE, SOUND, UNKNOWN, ObjectState

_RANKS = {state.value: rank for rank, state in enumerate(READABLE)}


def find_places(session: Session, digest: str, storage: str) -> Sequence[StoredObject]:
    """Return all objects of a content that may be read, best first: whatever an object was made for, it is a fallback.

    First what is sound and present, in this storage before others, raw before encoded. What is in doubt comes last.
    """
    query = select(StoredObject).where(StoredObject.digest == digest, StoredObject.state.in_(READABLE))
    rows = session.scalars(query.where(StoredObject.key.is_not(None), StoredObject.encoding != UNKNOWN))
    return sorted(rows, key=_rank(storage))


def _rank(storage: str) -> Callable[[StoredObject], Any]:
    def rank(row: StoredObject) -> Any:
        is_doubted = row.state not in SOUND
        is_other = row.state != ObjectState.PRESENT
        return is_doubted, is_other, row.storage != storage, row.encoding != RAW, _RANKS[row.state], row.id

    return rank


def find_current(session: Session, content_id: int, storage: str) -> StoredObject | None:
    """Return the current object of a content in a storage, locked."""
    query = select(StoredObject).where(
        StoredObject.content_id == content_id, StoredObject.storage == storage, StoredObject.slot == CURRENT
    )
    return session.scalar(query.with_for_update())


def find_leaving(session: Session, content_id: int, storage: str) -> StoredObject | None:
    """Return an object of a content that is leaving a storage, locked."""
    query = select(StoredObject).where(
        StoredObject.content_id == content_id,
        StoredObject.storage == storage,
        StoredObject.state == ObjectState.LEAVING.value,
    )
    return session.scalar(query.order_by(StoredObject.id.desc()).limit(1).with_for_update())
