"""The one gate through which the bytes of contents are deleted.

An object is doomed in one transaction, which sees what can be decoded without it. Then its bytes are deleted, and then
its record. A process that is killed, or that lost its lease, leaves a doomed object: the next one repeats the deletion.
Keys are never used twice, so that is harmless.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, lazyload

from frepo_core.db import Database
from frepo_core.db.clock import read_clock
from frepo_core.db.models import Content, Installation, StoredObject
from frepo_core.errors import BlobRetained

from ...base.failpoints import hit
from ..storages.backends import Backends
from ..storages.kept_blobs import RECONCILE
from ..storages.write_guard import Presence
from .decodable import find_path, is_decodable
from .promises import find_promises
from .states import CURRENT, SOUND, ObjectState
from .uses import is_base_anywhere, is_used

log = logging.getLogger(__name__)

PAGE = 100
# After a storage has refused a deletion, because the bytes are locked there.
AGAIN_AFTER = timedelta(days=1)
# The brake of the job `mirror` counts what was deleted within this time.
COUNTED_FOR = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Ended:
    """The number of objects whose bytes were deleted, their bytes, and contents that perhaps nothing needs any more."""

    objects: int = 0
    size: int = 0
    bases: frozenset[str] = frozenset()

    def __add__(self, other: "Ended") -> "Ended":
        """Return both as one."""
        return Ended(objects=self.objects + other.objects, size=self.size + other.size, bases=self.bases | other.bases)


class Gate:
    """Deletes objects. Each call may be repeated."""

    def __init__(self, database: Database, backends: Backends, presence: Presence) -> None:
        self._database = database
        self._backends = backends
        self._presence = presence

    def delete(self, object_ids: Iterable[int], *, keep_going: Callable[[], None] = lambda: None) -> Ended:
        """Doom objects and delete the bytes of those that may be. Raises the errors of the storages."""
        count, size, bases = 0, 0, set[str]()
        for object_id in object_ids:
            keep_going()
            row = self._database.write(partial(self._doom, object_id), may_use_reserve=True)
            if row is not None:
                hit("object_doomed")
                if self.end(row):
                    count, size = count + 1, size + row.object_size
                    bases |= {row.base_digest} if row.base_digest else set()
        return Ended(objects=count, size=size, bases=frozenset(bases))

    def delete_due(self, storage: str, *, keep_going: Callable[[], None] = lambda: None) -> Ended:
        """Delete what was superseded in a storage long enough ago, what was lost there, and what was doomed already."""
        total = Ended()
        for find in (_find_doomed, _find_due):
            after = 0
            while ids := self._read(partial(find, storage=storage, after=after)):
                self._presence.require(storage)
                done = self.delete(ids, keep_going=keep_going)
                after = ids[-1]
                total += done
        return total

    def delete_superseded(self, storage: str, size: int, *, keep_going: Callable[[], None] = lambda: None) -> Ended:
        """Delete what was superseded in a storage before its time, the oldest first, until `size` bytes are freed."""
        total, after = Ended(), 0
        while total.size < size and (ids := self._read(partial(_find_superseded, storage=storage, after=after))):
            for object_id in ids if total.size < size else ():
                total += self.delete([object_id], keep_going=keep_going)
            after = ids[-1]
        return total

    def end(self, row: StoredObject) -> bool:
        """Delete the bytes of a doomed object, and its record. Return False if the storage keeps them."""
        if row.key is not None:
            try:
                self._backends.get(row.storage).delete(row.key)
            except BlobRetained as error:
                log.info("the object %s in %s waits for its deletion: %s", row.key, row.storage, error.message)
                self._database.write(partial(_postpone, row.id, error.message), may_use_reserve=True)
                return False
            hit("object_deleted")
        self._database.write(partial(_forget, row.id), may_use_reserve=True)
        return True

    def _doom(self, object_id: int, session: Session) -> StoredObject | None:
        return doom(session, self._backends, object_id)

    def _read(self, find: Callable[[Session], Sequence[int]]) -> Sequence[int]:
        with self._database.reading() as session:
            return find(session)


def doom(session: Session, backends: Backends, object_id: int) -> StoredObject | None:
    """Doom an object if it may be deleted; return it, or None. What was doomed already is returned, too.

    It may be if no other object in its storage is less decodable without it, and if nothing uses the content, or the
    content can be decoded without it by objects that were read since they were stored and since it was superseded.
    """
    content_id = session.scalar(select(StoredObject.content_id).where(StoredObject.id == object_id))
    if content_id is None:
        return None
    lock_contents(session, [content_id])
    row = session.scalar(select(StoredObject).where(StoredObject.id == object_id).with_for_update())
    if row is None or row.state == ObjectState.DOOMED:
        return row
    if row.state == ObjectState.GONE or is_waiting(session, backends) or not may_end(session, backends, row):
        return None
    return note_doomed(session, row)


def is_waiting(session: Session, backends: Backends) -> bool:
    """Return whether a configured storage has to be reconciled before anything is deleted."""
    names = [RECONCILE + name for name in backends.configured]
    return session.scalar(select(Installation.name).where(Installation.name.in_(names)).limit(1)) is not None


def note_doomed(session: Session, row: StoredObject) -> StoredObject:
    """Doom an object, about which this was decided in the transaction."""
    now = read_clock(session)
    row.next_try = now if row.state == ObjectState.LEAVING else None  # so that `_forget` counts what has left
    row.state, row.slot, row.since, row.delete_after = ObjectState.DOOMED.value, None, now, None
    session.flush()
    return row


def may_end(session: Session, backends: Backends, row: StoredObject) -> bool:
    """Return whether an object may be deleted. Its content is locked."""
    if row.state in {ObjectState.WANTED, ObjectState.WRITING}:
        return True  # nothing has relied on it
    session.flush()
    if not _keeps_dependents(session, row):
        return False
    if session.scalar(select(Content.id).where(Content.id == row.content_id, is_used())) is None:
        return True
    return _has_survivor(session, backends, row)


def lock_contents(session: Session, content_ids: Iterable[int], *, shared: bool = False) -> dict[int, Content]:
    """Lock contents in the order of their ids, which never change; return them. Nobody begins to use one meanwhile."""
    query = select(Content).where(Content.id.in_(set(content_ids))).order_by(Content.id)
    rows = session.scalars(query.options(without_place()).with_for_update(read=shared))
    return {row.id: row for row in rows}


def without_place() -> Any:
    """Return the option that reads a content alone, as a query that locks it needs."""
    return lazyload(Content.place)


def _has_survivor(session: Session, backends: Backends, row: StoredObject) -> bool:
    """Return whether a used content can still be decoded without an object, by what was read since it was superseded.

    In its own storage, or in another one. Then each storage that promises the content, and has it or shall get it, has
    to decode it, too; after a migration, each that has it. Nothing may be deleted if there is none.
    """
    assert row.content_id is not None
    others = (StoredObject.content_id == row.content_id, StoredObject.slot == CURRENT, StoredObject.id != row.id)
    has = set(session.scalars(select(StoredObject.storage).where(*others)))
    if row.storage in has and _has_other(session, row, row.storage):
        return True
    promised = find_promises(session, backends, [row.content_id])[row.content_id].storages
    if row.slot == CURRENT and row.storage in promised:
        has.add(row.storage)
    relied_on = promised & has or (has if row.slot is None else set())
    is_somewhere = any(_has_other(session, row, storage) for storage in has)
    # Without one that is damaged, nothing is less decodable; while it is the last one, its bytes may be right again.
    if row.state in {ObjectState.DAMAGED, ObjectState.MISSING}:
        return is_somewhere
    everywhere = all(is_decodable(session, row.digest, storage, without=[row.id]) for storage in relied_on)
    return is_somewhere and bool(relied_on) and everywhere


def _has_other(session: Session, row: StoredObject, storage: str) -> bool:
    """Return whether a storage decodes the content of an object without it, by one of its objects that was read."""
    is_lost = row.state in {ObjectState.DAMAGED, ObjectState.MISSING}
    since = row.since if row.slot is None and storage == row.storage else None

    def allows(other: StoredObject) -> bool:
        if is_lost or other.digest != row.digest:
            return True
        return other.read_at is not None and (since is None or other.read_at >= since)

    return find_path(session, row.digest, storage, without=[row.id], allows=allows) is not None


def _keeps_dependents(session: Session, row: StoredObject) -> bool:
    """Return whether all objects in the storage that can be decoded now, and need the content, still can without one.

    Whatever they are: what is kept for a time keeps what it needs as long. Only what was read since takes its place.
    """
    if row.state not in SOUND or not _is_needed(session, row) or not is_decodable(session, row.digest, row.storage):
        return True
    return _has_other(session, row, row.storage)


def _is_needed(session: Session, row: StoredObject) -> bool:
    """Return whether an object in the storage is a difference to the content of an object."""
    needing = (StoredObject.base_digest == row.digest, StoredObject.storage == row.storage)
    states = StoredObject.state.in_([*SOUND, ObjectState.FOUND, ObjectState.WRITING])
    return session.scalar(select(StoredObject.id).where(*needing, states).limit(1)) is not None


def _find_doomed(session: Session, *, storage: str, after: int) -> Sequence[int]:
    doomed = (StoredObject.storage == storage, StoredObject.state == ObjectState.DOOMED.value)
    is_due = StoredObject.delete_after.is_(None) | (StoredObject.delete_after <= read_clock(session))
    query = select(StoredObject.id).where(*doomed, is_due, StoredObject.id > after)
    return session.scalars(query.order_by(StoredObject.id).limit(PAGE)).all()


def _find_due(session: Session, *, storage: str, after: int) -> Sequence[int]:
    """Return what was superseded or found, and damaged objects that another one has replaced."""
    states = (ObjectState.SUPERSEDED, ObjectState.FOUND, ObjectState.DAMAGED, ObjectState.MISSING)
    old = (StoredObject.storage == storage, StoredObject.state.in_(states), StoredObject.slot.is_(None))
    is_due = StoredObject.delete_after <= read_clock(session)
    query = select(StoredObject.id).where(*old, is_due, StoredObject.id > after)
    return session.scalars(query.order_by(StoredObject.id).limit(PAGE)).all()


def _find_superseded(session: Session, *, storage: str, after: int) -> Sequence[int]:
    superseded = (StoredObject.storage == storage, StoredObject.state == ObjectState.SUPERSEDED.value)
    query = select(StoredObject.id).where(*superseded, StoredObject.id > after)
    return session.scalars(query.order_by(StoredObject.id).limit(PAGE)).all()


def _postpone(object_id: int, problem: str, session: Session) -> None:
    """Try a deletion that a storage has refused again later: what is doomed stays so."""
    row = session.scalar(select(StoredObject).where(StoredObject.id == object_id).with_for_update())
    if row is not None:
        row.error, row.delete_after = problem[:500], read_clock(session) + AGAIN_AFTER


def _forget(object_id: int, session: Session) -> None:
    """Delete the record of an object whose bytes are deleted, and that of its content if nothing else is left of it.

    That of a second copy stays for a day without its content, to be counted.
    """
    row = session.scalar(select(StoredObject).where(StoredObject.id == object_id).with_for_update())
    if row is None or row.state != ObjectState.DOOMED:
        return
    content_id = row.content_id
    if row.next_try is not None:  # it has left
        row.state, row.content_id, row.key = ObjectState.GONE.value, None, None
        row.next_try = read_clock(session) + COUNTED_FOR
    else:
        session.delete(row)
    session.flush()
    if content_id is not None:
        forget_content(session, content_id)


def forget_content(session: Session, content_id: int) -> None:
    """Delete the record of a content that has no object, unless something uses it."""
    left = select(StoredObject.id).where(StoredObject.content_id == Content.id).exists()
    unused = select(Content.id).where(Content.id == content_id, ~left, ~is_used(), ~is_base_anywhere())
    if session.scalar(unused) is not None:
        row = lock_contents(session, [content_id]).get(content_id)
        if row is not None and session.scalar(unused) is not None:
            session.delete(row)
