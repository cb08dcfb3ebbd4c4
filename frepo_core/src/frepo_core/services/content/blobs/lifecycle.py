"""The life of contents: stored by uploads, once, and deleted when neither a file nor the trash uses them."""

import logging
from collections.abc import Iterable, Sequence
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.clock import read_clock
from frepo_core.db.models import Content, StoredObject
from frepo_core.errors import DatabaseUnavailableError

from ...base.failpoints import hit
from ..copies import Copies
from ..held_bytes import HeldBytes
from ..objects.gate import forget_content, lock_contents, note_doomed
from ..objects.necessity import is_waiting, may_end
from ..objects.states import ENDED, ObjectState
from ..objects.uses import is_second_copy, is_used
from ..objects.wishes import want_all
from ..storages.backends import Backends
from ..storages.storage_deadlines import StoringThreads
from ..storages.storage_troubles import StorageStates
from ..storages.write_guard import Presence
from .blob_reader import new_gate

log = logging.getLogger(__name__)


class Blobs:
    """What uploads need to store contents, and the deletion of those that nothing uses any more."""

    def __init__(
        self,
        database: Database,
        backends: Backends,
        presence: Presence,
        states: StorageStates,
        held: HeldBytes,
        copies: Copies,
        delay: timedelta = timedelta(),
    ) -> None:
        """The copies of what is deleted stay for the time `delay`."""
        self.database = database
        self.backends = backends
        self.presence = presence
        self.states = states
        self.storing_threads = StoringThreads()
        self.held = held
        self.gate = new_gate(database, backends, presence)
        self.copies = copies
        self._delay = delay

    def want_copies(self, session: Session, content_ids: Sequence[int]) -> None:
        """Note that contents that are used again want objects, as their collections or the service say."""
        want_all(session, self.backends, content_ids)

    def collect(self, content_ids: Iterable[int]) -> None:
        """Delete the objects of those of the contents that nothing uses, one transaction for each content.

        Second copies only begin to leave. Never raises: failures are logged, and `storage:sweep` deletes the rest. It
        ends if the database does not answer.
        """
        left = set(content_ids)
        while left:
            content_id = left.pop()
            try:
                left.update(self._collect(content_id))
            except DatabaseUnavailableError as error:
                log.error(
                    "%d blobs were not collected, storage:sweep will delete them: %s", len(left) + 1, error.message
                )
                break
            except Exception:
                log.exception("blob %s was not collected, storage:sweep will delete it", content_id)
        self.database.refill_reserve()

    def delete_objects(self, object_ids: Iterable[int]) -> None:
        """Delete objects that others have replaced. Never raises, as above."""
        for object_id in object_ids:
            try:
                self.gate.delete([object_id], reads=False)
            except Exception:
                log.exception("the object %s was not deleted, storage:sweep will delete it", object_id)

    def release(self, session: Session, content_id: int) -> list[StoredObject]:
        """End the objects of a content that nothing uses: doom first copies, and let second ones begin to leave.

        Return those whose bytes are to be deleted. What others need as their base stays.
        """
        content = lock_contents(session, [content_id]).get(content_id)
        # Read after the lock: nobody begins to use the content without it.
        if content is None or session.scalar(select(Content.id).where(Content.id == content_id, is_used())):
            return []
        if is_waiting(session, self.backends):
            return []
        of_content = (StoredObject.content_id == content_id, StoredObject.state.not_in(ENDED))
        query = select(StoredObject).where(*of_content).order_by(StoredObject.id).with_for_update()
        doomed: list[StoredObject] = []
        for row in session.scalars(query).all():
            if row.key is None:
                session.delete(row)
            elif row.state == ObjectState.LEAVING:
                continue
            elif is_second_copy(self.backends, row):
                self._let_leave(session, row)
            elif self.backends.journals.is_compared(row.storage) and may_end(session, self.backends, row, relied=()):
                doomed.append(note_doomed(session, row))
        session.flush()
        if not doomed:
            forget_content(session, content_id)
        return doomed

    def _let_leave(self, session: Session, row: StoredObject) -> None:
        now = read_clock(session)
        row.state, row.slot, row.since, row.delete_after = ObjectState.LEAVING.value, None, now, now + self._delay

    def _collect(self, content_id: int) -> list[int]:
        """Delete the objects of a content unless it is used. Return contents that perhaps nothing needs any more."""
        hit("collect")
        self.gate.compare(StoredObject.content_id == content_id)
        doomed = self.database.write(lambda session: self.release(session, content_id), may_use_reserve=True)
        if doomed:
            hit("object_doomed")
            for row in doomed:
                self.gate.end(row)
            hit("collected")
        bases = [row.base_digest for row in doomed if row.base_digest is not None]
        return self.find_ids(bases)

    def find_ids(self, digests: Iterable[str]) -> list[int]:
        """Return the ids of contents."""
        wanted = list(digests)
        if not wanted:
            return []
        with self.database.reading() as session:
            return list(session.scalars(select(Content.id).where(Content.digest.in_(wanted))))
