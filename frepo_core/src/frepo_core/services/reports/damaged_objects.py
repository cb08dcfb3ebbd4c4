"""Counts the objects whose bytes are wrong or missing."""

from collections import Counter
from collections.abc import Mapping

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from frepo_core.db.models import StoredObject

from ..content.objects.states import CURRENT, ObjectState
from ..content.objects.uses import is_second, select_lost
from ..content.storages.backends import Backends

BAD = (ObjectState.DAMAGED, ObjectState.MISSING)


def is_wrong(backends: Backends) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions for first copies that are wrong or missing. Second ones are in the figures about copies."""
    return StoredObject.state.in_(BAD), StoredObject.slot == CURRENT, ~is_second(backends)


def is_above_lost(backends: Backends) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions for first copies that are sound, and cannot be read because their base is lost."""
    is_present = StoredObject.state == ObjectState.PRESENT.value
    return StoredObject.digest.in_(select_lost()), is_present, StoredObject.slot == CURRENT, ~is_second(backends)


def count_damaged(session: Session, backends: Backends) -> int:
    """Return the number of damaged first copies."""
    return sum(count_damaged_by_storage(session, backends).values())


def count_damaged_by_storage(session: Session, backends: Backends) -> Mapping[str, int]:
    """Return how many first copies are damaged, for each storage that has any. Without damage it is one statement."""
    query = select(StoredObject.storage, func.count()).group_by(StoredObject.storage)
    found = Counter({storage: number for storage, number in session.execute(query.where(*is_wrong(backends)))})
    if found:
        above = session.execute(query.where(*is_above_lost(backends)))
        found.update({storage: number for storage, number in above})
    return found
