"""Lets contents leave the storages that they were moved out of, when nothing there needs them as its base any more."""

from functools import partial

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import StoredObject
from frepo_core.services.content.objects.gate import lock_contents
from frepo_core.services.content.objects.promises import find_promises
from frepo_core.services.content.objects.states import CURRENT, ObjectState
from frepo_core.services.content.objects.supersession import KEPT_FOR, supersede_unpromised
from frepo_core.services.content.objects.uses import is_second
from frepo_core.services.content.storages.backends import Backends


def leave_former_storages(database: Database, backends: Backends) -> None:
    """Supersede such objects. A move leaves them if others are stored as the difference to them.

    One may need another one, which is left when it has left itself.
    """
    while True:
        with database.reading() as session:
            content_ids = [one for one in session.scalars(_select_twice(backends)) if one is not None]
        if not sum(database.write(partial(_leave, backends, content_id)) for content_id in content_ids):
            return


def _select_twice(backends: Backends) -> Select[int | None]:
    """Select the contents with several current objects that are no second copies."""
    first = (StoredObject.slot == CURRENT, StoredObject.state == ObjectState.PRESENT.value, ~is_second(backends))
    of_contents = select(StoredObject.content_id).where(*first)
    return of_contents.group_by(StoredObject.content_id).having(func.count() > 1)


def _leave(backends: Backends, content_id: int, session: Session) -> int:
    """Return how many objects of a content were superseded: none if it is not yet where it was moved."""
    lock_contents(session, [content_id])
    homes = find_promises(session, backends, [content_id])[content_id].homes
    there = (StoredObject.content_id == content_id, StoredObject.storage.in_(homes), StoredObject.slot == CURRENT)
    found = session.scalars(select(StoredObject.storage).where(*there, StoredObject.state == ObjectState.PRESENT.value))
    if not homes or set(found) != homes:
        return 0
    return supersede_unpromised(session, backends, content_id, keeps=KEPT_FOR)
