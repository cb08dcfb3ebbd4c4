"""Lets contents leave the storages that they were moved out of, when nothing there needs them as its base any more."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import StoredObject
from frepo_core.services.content.objects.gate import lock_contents
from frepo_core.services.content.objects.promises import find_promises
from frepo_core.services.content.objects.states import CURRENT, ObjectState
from frepo_core.services.content.objects.supersession import KEPT_FOR, supersede_unpromised
from frepo_core.services.content.objects.uses import is_second
from frepo_core.services.content.storages.backends import Backends

PAGE = 500


def leave_former_storages(database: Database, backends: Backends) -> None:
    """Supersede such objects. A move leaves them if others are stored as the difference to them.

    One may need another one, which is left when it has left itself.
    """
    while True:
        with database.reading() as session:
            content_ids = list(_find_moved(session, backends))
        if not sum(database.write(partial(_leave, backends, content_id)) for content_id in content_ids):
            return


def _find_moved(session: Session, backends: Backends) -> Iterator[int]:
    """Yield the contents with several current objects that are no second copies, if one of these can be left."""
    first = (StoredObject.slot == CURRENT, StoredObject.state == ObjectState.PRESENT.value, ~is_second(backends))
    twice = select(StoredObject.content_id).where(*first).group_by(StoredObject.content_id).having(func.count() > 1)
    content_ids = [one for one in session.scalars(twice) if one is not None]
    for start in range(0, len(content_ids), PAGE):
        yield from _find_left(session, backends, content_ids[start : start + PAGE])


def _find_left(session: Session, backends: Backends, content_ids: Sequence[int]) -> list[int]:
    """Return those of the contents that are in each storage that is their home, and in one that nothing promises."""
    storages, promises = defaultdict[int, set[str]](set), find_promises(session, backends, content_ids)
    present = (StoredObject.slot == CURRENT, StoredObject.state == ObjectState.PRESENT.value)
    query = select(StoredObject.content_id, StoredObject.storage).where(StoredObject.content_id.in_(content_ids))
    for content_id, storage in session.execute(query.where(*present, ~is_second(backends))):
        storages[content_id or 0].add(storage)
    return [
        content_id
        for content_id, promise in promises.items()
        if promise.homes
        and promise.homes <= storages[content_id]
        and storages[content_id] - promise.storages - promise.as_base
    ]


def _leave(backends: Backends, content_id: int, session: Session) -> int:
    """Return how many objects of a content were superseded: none if it has changed meanwhile."""
    lock_contents(session, [content_id])
    if not _find_left(session, backends, [content_id]):
        return 0
    return supersede_unpromised(session, backends, content_id, keeps=KEPT_FOR)
