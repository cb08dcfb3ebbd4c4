"""Moves contents from one storage to another while the service runs: add an object there, supersede the one here."""

import logging
from collections.abc import Iterator, Sequence
from functools import partial

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import StoredObject
from frepo_core.domain.structs import struct
from frepo_core.errors import BlobNotFound
from frepo_core.services.content.blobs.blob_reader import new_gate
from frepo_core.services.content.objects.blob_damage import UnreadableError
from frepo_core.services.content.objects.gate import lock_contents
from frepo_core.services.content.objects.marks import note_healed
from frepo_core.services.content.objects.places import find_current
from frepo_core.services.content.objects.states import CURRENT, FIRST, LACKING, ObjectState
from frepo_core.services.content.objects.supersession import KEPT_FOR, supersede
from frepo_core.services.content.objects.uses import is_second
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.content.storages.owner_mark import find_marks
from frepo_core.services.content.storages.sweep_guard import Ownership
from frepo_core.services.content.storages.write_guard import Presence
from frepo_core.services.upkeep.storage.progress import Progress, count_objects, no_progress

from .new_objects import DamagedBlobError, NewRawObject, is_there

log = logging.getLogger(__name__)

PAGE = 200


@struct
class MigrationReport:
    """The numbers of moved contents, moved bytes and purged objects of the source, and which failed and why."""

    moved: int
    size: int
    purged: int
    failed: Sequence[str]


class Migrator:
    """Moves all contents of one storage to another. It can be stopped at any time and run again."""

    def __init__(self, database: Database, backends: Backends, *, source: str, target: str) -> None:
        self._database = database
        self._backends = backends
        self._source_name, self._target_name = source, target
        self._source, self._target = backends.get(source), backends.get(target)
        self._ownership = Ownership(database, backends)
        self._presence = Presence(database, backends)

    def run(self, *, purge: bool = False, progress: Progress = no_progress) -> MigrationReport:
        """Move the first copies in the source; with `purge`, delete the bytes in the source of all that was moved.

        The target is marked as this database's before the first content is stored. If it is not the one that was
        marked, raises `StorageUnavailable`. A source that may hold blobs of others is not purged:
        `StorageDisputedError`. Without `purge`, the bytes in the source stay until somebody deletes them.

        A content that is damaged or unreadable in the source stays there and is reported; the others are moved.
        """
        self._ownership.claim(self._target_name)
        self._presence.look(self._target_name)
        total = count_objects(self._database, *self._to_move())
        moved, size, failed = 0, 0, list[str]()
        for done, row in enumerate(self._rows(), start=1):
            try:
                if self._move(row):
                    moved, size = moved + 1, size + row.size
            except (BlobNotFound, UnreadableError, DamagedBlobError) as error:
                if self._is_unchanged(row):
                    failed.append(f"{row.key}: {error}")
                    log.error("blob %s was not moved: %s", row.key, error)
            progress(done=done, total=total, size=row.size)
        return MigrationReport(moved=moved, size=size, purged=self._purge() if purge else 0, failed=failed)

    def _move(self, row: StoredObject) -> bool:
        """Copy one object to a fresh key, read the copy, and let it take the place; return whether that was done.

        If the target has the content already, that one does.
        """
        with self._database.reading() as session:
            known = find_current(session, row.content_id or 0, self._target_name)
        if is_there(self._target, known):
            return self._database.write(partial(self._switch, row, None))
        with NewRawObject(self._database, self._backends, self._presence, row, self._target_name) as new:
            return new.use(partial(self._switch, row, new))

    def _switch(self, seen: StoredObject, new: NewRawObject | None, session: Session) -> bool:
        """Let the object in the target take the place of that in the source, unless this was changed meanwhile."""
        assert seen.content_id is not None
        lock_contents(session, [seen.content_id])
        row = find_current(session, seen.content_id, self._source_name)
        if row is None or row.id != seen.id or row.key != seen.key:
            return False
        was_damaged = row.state != ObjectState.PRESENT
        if new is not None:
            added = new.insert(session, KEPT_FOR)
        else:
            known = find_current(session, seen.content_id, self._target_name)
            if known is None or known.state in LACKING:
                return False
            known.role, added = FIRST, known
        supersede(session, row, keeps=None)
        if was_damaged:
            note_healed(session, self._backends, added, by=None)
        return True

    def _is_unchanged(self, seen: StoredObject) -> bool:
        """Return whether the object is still current. Otherwise a failure to move it does not matter."""
        with self._database.reading() as session:
            query = select(StoredObject.id).where(StoredObject.id == seen.id, StoredObject.slot == CURRENT)
            return session.scalar(query) is not None

    def _to_move(self) -> tuple[ColumnElement[bool], ...]:
        first = (StoredObject.storage == self._source_name, StoredObject.slot == CURRENT)
        return *first, StoredObject.key.is_not(None), ~is_second(self._backends)

    def _rows(self) -> Iterator[StoredObject]:
        after = 0
        while True:
            with self._database.reading() as session:
                query = select(StoredObject).where(*self._to_move(), StoredObject.id > after)
                rows = session.scalars(query.order_by(StoredObject.id).limit(PAGE)).all()
            if not rows:
                return
            yield from rows
            after = rows[-1].id

    def _purge(self) -> int:
        """Delete the objects of the source that others have replaced, if the gate allows it; return their number."""
        self._ownership.raise_epoch(self._source_name)
        self._ownership.confirm(self._source_name, find_marks(self._source))
        gate, purged, after = new_gate(self._database, self._backends, self._presence), 0, 0
        superseded = (StoredObject.storage == self._source_name, StoredObject.slot.is_(None))
        bytes_left = (ObjectState.SUPERSEDED, ObjectState.DAMAGED, ObjectState.MISSING, ObjectState.DOOMED)
        while True:
            query = select(StoredObject.id).where(*superseded, StoredObject.state.in_(bytes_left))
            with self._database.reading() as session:
                ids = session.scalars(query.where(StoredObject.id > after).order_by(StoredObject.id).limit(PAGE)).all()
            if not ids:
                return purged
            purged, after = purged + gate.delete(ids).objects, ids[-1]
