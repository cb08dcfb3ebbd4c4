"""Makes second copies again whose contents are stored in another way since. The old one stays until then."""

import logging
from collections.abc import Callable
from datetime import timedelta
from functools import partial

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.clock import read_clock
from frepo_core.db.commit_watch import CommitWatch
from frepo_core.db.models import StoredObject
from frepo_core.domain.naming import new_blob_key
from frepo_core.errors import BlobNotFound
from frepo_core.services.content.objects.decodable import find_base_path
from frepo_core.services.content.objects.gate import lock_contents
from frepo_core.services.content.objects.places import find_current
from frepo_core.services.content.objects.states import CURRENT, DELTA, ObjectState
from frepo_core.services.content.objects.supersession import KEPT_FOR, take_place
from frepo_core.services.content.objects.unnamed_bytes import delete_unnamed
from frepo_core.services.content.objects.uses import is_second_copy
from frepo_core.services.content.storages.backends import Backends

from .copier import Copier, CopyTask, Outcome

log = logging.getLogger(__name__)

PAGE = 100
# After a failure, an object is left alone for this long.
PAUSE = timedelta(hours=1)


class Renewal:
    """Renews the copies in a storage that are due. One whose base has no copy there waits."""

    def __init__(self, database: Database, backends: Backends, copier: Copier) -> None:
        self._database = database
        self._backends = backends
        self._copier = copier

    def run(self, storage: str, *, keep_going: Callable[[], None]) -> int:
        """Renew what is due; return the number."""
        renewed, after = 0, 0
        while rows := self._find_due(storage, after):
            for row in rows:
                keep_going()
                renewed += self._renew(row)
            after = rows[-1].id
        return renewed

    def _find_due(self, storage: str, after: int) -> list[StoredObject]:
        with self._database.reading() as session:
            due = (StoredObject.storage == storage, StoredObject.state == ObjectState.PRESENT.value)
            query = select(StoredObject).where(*due, StoredObject.next_try <= read_clock(session))
            query = query.where(StoredObject.slot == CURRENT, StoredObject.id > after)
            return list(session.scalars(query.order_by(StoredObject.id).limit(PAGE)))

    def _renew(self, row: StoredObject) -> bool:
        task, watch, is_used = self._database.write(partial(self._begin, row)), CommitWatch(), False
        if task is None:
            return False
        try:
            result = self._copier.copy(task)
            if result.outcome is Outcome.PRESENT:
                is_used = self._database.write(partial(self._use, row, task), watch=watch)
            else:
                log.warning("the copy %s in %s was not renewed: %s", row.key, task.storage, result.problem)
                self._database.write(partial(_pause, row))
        finally:
            if not is_used and not watch.outcome_is_unknown:
                delete_unnamed(self._database, self._backends, task.storage, task.key)
        return is_used

    def _begin(self, seen: StoredObject, session: Session) -> CopyTask | None:
        """Return the task to make the object as the first copy is; None if it is, or has to wait for its base."""
        row, source = session.get(StoredObject, seen.id), _find_source(session, self._backends, seen)
        if row is None or row.key != seen.key or row.content_id is None:
            return None
        if source is None or source.object_digest == row.object_digest:
            row.next_try = None
            return None
        if not _can_be_decoded(session, source, row):
            return None
        return CopyTask(
            id=row.id,
            content_id=row.content_id,
            digest=source.object_digest,
            size=source.object_size,
            storage=row.storage,
            key=new_blob_key(row.digest),
            source=source,
            encoding=source.encoding,
            base_digest=source.base_digest,
        )

    def _use(self, seen: StoredObject, task: CopyTask, session: Session) -> bool:
        """Let the new object take the place of the old one, unless either was changed meanwhile.

        Without a row, the object was an orphan: a sweep may have deleted it while this process was suspended.
        """
        lock_contents(session, [task.content_id])
        row, source = find_current(session, task.content_id, task.storage), task.source
        assert source is not None  # copies are made of one
        current = session.get(StoredObject, source.id)
        if row is None or row.key != seen.key or row.state != ObjectState.PRESENT:
            return False
        if current is None or current.slot != CURRENT or not _can_be_decoded(session, source, row):
            return False
        try:
            self._backends.get(task.storage).stat(task.key)
        except BlobNotFound:
            return False
        take_place(
            session,
            row,
            key=task.key,
            encoding=task.encoding,
            size=task.size,
            digest=task.digest,
            base_digest=task.base_digest,
            keeps=KEPT_FOR,
        )
        return True


def _find_source(session: Session, backends: Backends, row: StoredObject) -> StoredObject | None:
    """Return the current first copy of the content, in another storage; None for an object that is one itself."""
    if not is_second_copy(backends, row):
        return None
    others = (StoredObject.content_id == row.content_id, StoredObject.storage != row.storage)
    present = (StoredObject.state == ObjectState.PRESENT.value, StoredObject.slot == CURRENT)
    found = session.scalars(select(StoredObject).where(*others, *present)).all()
    first = [one for one in found if not is_second_copy(backends, one)]
    return min(first, key=lambda one: (one.storage != backends.current, one.id), default=None)


def _can_be_decoded(session: Session, source: StoredObject, row: StoredObject) -> bool:
    """Return whether the storage of an object decodes the base of another one, by what is current in it there."""
    return source.encoding != DELTA or find_base_path(session, row, str(source.base_digest), row.storage) is not None


def _pause(seen: StoredObject, session: Session) -> None:
    row = session.get(StoredObject, seen.id)
    if row is not None and row.state == ObjectState.PRESENT:
        row.next_try = read_clock(session) + PAUSE
