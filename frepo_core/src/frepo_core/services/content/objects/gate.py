"""The one gate through which the bytes of contents are deleted.

An object is doomed in one transaction, which sees what can be decoded without it. Then its bytes are deleted, and then
its record. A process that is killed, or that lost its lease, leaves a doomed object: the next one repeats the deletion.
Keys are never used twice, so that is harmless.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Protocol

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session, lazyload

from frepo_core.db import Database
from frepo_core.db.clock import read_clock
from frepo_core.db.models import Content, StoredObject
from frepo_core.errors import BlobRetained

from ...base.failpoints import hit
from ..storages.backends import Backends
from ..storages.write_guard import Presence
from .necessity import is_waiting, may_end
from .states import UNKNOWN, ObjectState
from .survivors import Pace, ReadObject, Survivors
from .uses import is_base_anywhere, is_second_copy, is_used

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


class _Find(Protocol):
    def __call__(self, session: Session, *, storage: str, after: int) -> Sequence[int]:
        """Return the ids of the next objects in a storage after an id."""


class Gate:
    """Deletes objects. Each call may be repeated."""

    def __init__(self, database: Database, backends: Backends, presence: Presence, read: ReadObject) -> None:
        self._database = database
        self._read = read
        self._backends = backends
        self._presence = presence

    def delete(
        self,
        object_ids: Iterable[int],
        *,
        keep_going: Callable[[], None] = lambda: None,
        pace: Pace | None = None,
        reads: bool = True,
    ) -> Ended:
        """Doom objects and delete the bytes of those that may be. Raises the errors of the storages.

        What takes their place is read before. With `reads=False`, for requests, only what was read since counts.
        `pace` is called with the size of each piece that was read; it may wait, or end the run by an exception.
        """
        ids = list(object_ids)
        self.compare(StoredObject.id.in_(ids))
        survivors = self._survivors(keep_going, pace)
        return self._delete_all(ids, survivors.read if reads else survivors.find_read, keep_going)

    def _delete_all(
        self, object_ids: Iterable[int], find: Callable[[int], Collection[int] | None], keep_going: Callable[[], None]
    ) -> Ended:
        """Delete those objects of which `find` returns what takes their place."""
        total = Ended()
        for object_id in object_ids:
            keep_going()
            if (relied := find(object_id)) is not None:
                total += self._delete(object_id, relied)
        return total

    def delete_due(
        self,
        storage: str,
        *,
        keep_going: Callable[[], None] = lambda: None,
        pace: Pace | None = None,
    ) -> Ended:
        """Delete what was superseded in a storage long enough ago, what was lost there, and what was doomed already.

        What replaces the others is read once, so that they may end early if room is needed. Nothing is read twice:
        the newest version may be the base of all that a run deletes.
        """
        total, survivors = Ended(), self._survivors(keep_going, pace)
        self._backends.journals.compare([storage])
        for find in (_find_doomed, _find_due):
            for ids in self._pages(find, storage):
                self._presence.require(storage)
                total += self._delete_all(ids, survivors.read, keep_going)
        for ids in self._pages(_find_waiting, storage):
            for object_id in ids:
                keep_going()
                if survivors.find_read(object_id) is None:
                    survivors.read(object_id)
        return total

    def delete_superseded(
        self, storage: str, size: int, *, keep_going: Callable[[], None] = lambda: None, reads: bool = False
    ) -> Ended:
        """Delete what was superseded in a storage before its time, the oldest first, until `size` bytes are freed."""
        total = Ended()
        for ids in self._pages(_find_superseded, storage):
            for object_id in ids:
                if total.size >= size:
                    return total
                total += self.delete([object_id], keep_going=keep_going, reads=reads)
        return total

    def compare(self, *of_objects: ColumnElement[bool]) -> None:
        """Compare the journals in the storages of these objects with what the database knows of them."""
        journals = self._backends.journals
        if all(journals.is_compared(name) for name in self._backends.configured):
            return
        with self._database.reading() as session:
            rows = session.scalars(select(StoredObject).where(*of_objects))
            names = {row.storage for row in rows if not is_second_copy(self._backends, row) or row.slot is None}
        journals.compare(names)

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

    def _survivors(self, keep_going: Callable[[], None], pace: Pace | None) -> Survivors:
        return Survivors(self._database, self._backends, self._read, pace or (lambda size: keep_going()))

    def _delete(self, object_id: int, relied: Collection[int]) -> Ended:
        work = partial(doom, backends=self._backends, object_id=object_id, relied=relied)
        if (row := self._database.write(work, may_use_reserve=True)) is None:
            return Ended()
        hit("object_doomed")
        if not self.end(row):
            return Ended()
        bases = {row.base_digest} if row.base_digest else set[str]()
        return Ended(objects=1, size=row.object_size, bases=frozenset(bases))

    def _pages(self, find: _Find, storage: str) -> Iterator[Sequence[int]]:
        after = 0
        while True:
            with self._database.reading() as session:
                ids = find(session, storage=storage, after=after)
            if not ids:
                return
            yield ids
            after = ids[-1]


def doom(session: Session, backends: Backends, object_id: int, relied: Collection[int]) -> StoredObject | None:
    """Doom an object if it may be deleted; return it, or None. What was doomed already is returned, too.

    It may be if no other object in its storage is less decodable without it, and if nothing uses the content, or the
    content can be decoded without it: by the objects `relied`, see `Survivors`. They and their contents are locked,
    too, so that two objects which rely on each other's difference are not doomed at once.
    """
    of_objects = select(StoredObject.content_id).where(StoredObject.id.in_({object_id, *relied}))
    lock_contents(session, [id_ for id_ in session.scalars(of_objects) if id_ is not None])
    query = select(StoredObject).where(StoredObject.id.in_({object_id, *relied})).order_by(StoredObject.id)
    rows = {one.id: one for one in session.scalars(query.with_for_update())}
    row = rows.get(object_id)
    if row is None or row.state == ObjectState.DOOMED:
        return row
    if row.content_id is None or row.state == ObjectState.GONE:
        return None
    if is_waiting(session, backends) or not may_end(session, backends, row, relied):
        return None
    return note_doomed(session, row)


def note_doomed(session: Session, row: StoredObject) -> StoredObject:
    """Doom an object, about which this was decided in the transaction."""
    now = read_clock(session)
    row.next_try = now if row.state == ObjectState.LEAVING else None  # so that `_forget` counts what has left
    row.state, row.slot, row.since, row.delete_after = ObjectState.DOOMED.value, None, now, None
    session.flush()
    return row


def give_up(session: Session, row: StoredObject) -> None:
    """Let an object go that a job has begun to make and that is not needed any more.

    Its bytes may be those of a finished object, if the records are older than the storage. So it counts as one that was
    found: the gate deletes it when nothing needs it.
    """
    now, size = read_clock(session), row.object_size
    row.state, row.slot, row.since, row.next_try, row.delete_after = ObjectState.FOUND.value, None, now, None, now
    row.encoding, row.stored_size, row.stored_digest, row.base_digest = UNKNOWN, size, None, None
    session.flush()


def lock_contents(session: Session, content_ids: Iterable[int], *, shared: bool = False) -> dict[int, Content]:
    """Lock contents in the order of their ids, which never change; return them. Nobody begins to use one meanwhile."""
    query = select(Content).where(Content.id.in_(set(content_ids))).order_by(Content.id)
    rows = session.scalars(query.options(without_place()).with_for_update(read=shared))
    return {row.id: row for row in rows}


def without_place() -> Any:
    """Return the option that reads a content alone, as a query that locks it needs."""
    return lazyload(Content.place)


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


def _find_waiting(session: Session, *, storage: str, after: int) -> Sequence[int]:
    superseded = (StoredObject.storage == storage, StoredObject.state == ObjectState.SUPERSEDED.value)
    query = select(StoredObject.id).where(*superseded, StoredObject.delete_after > read_clock(session))
    return session.scalars(query.where(StoredObject.id > after).order_by(StoredObject.id).limit(PAGE)).all()


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
