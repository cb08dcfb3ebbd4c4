"""Moves what a collection has into the storage that it names, while the service runs. Requested, and done by a job.

Objects are added there, and those that no storage promises any more are superseded. Second copies stay.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, func, or_, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection, Content, File, Installation, StoredObject, TrashEntry, Version
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Actor
from frepo_core.domain.structs import struct
from frepo_core.errors import BlobNotFound, NotFoundError
from frepo_core.services.content.blobs.lifecycle import Blobs
from frepo_core.services.content.objects.blob_damage import UnreadableError
from frepo_core.services.content.objects.gate import lock_contents
from frepo_core.services.content.objects.places import find_current, find_places
from frepo_core.services.content.objects.promises import find_promises
from frepo_core.services.content.objects.states import CURRENT, FIRST, LACKING, ObjectState
from frepo_core.services.content.objects.supersession import KEPT_FOR, supersede_unpromised
from frepo_core.services.content.storages.sweep_guard import Ownership
from frepo_core.services.events.facts import collection_event
from frepo_core.services.events.recording import record
from frepo_core.services.upkeep.storage.progress import Progress, no_progress

from .new_objects import DamagedBlobError, NewRawObject, is_there

log = logging.getLogger(__name__)

PAGE = 200
_PREFIX = "move:"
_MOVER = Actor(name="system:migrate")


@dataclass(kw_only=True)
class MoveReport:
    """The numbers of collections, moved contents and their bytes, and which contents were not moved and why."""

    collections: int = 0
    moved: int = 0
    size: int = 0
    failed: list[str] = field(default_factory=list)

    def add(self, other: "MoveReport") -> None:
        """Add the numbers of one collection."""
        self.collections += 1
        self.moved += other.moved
        self.size += other.size
        self.failed += other.failed


@struct
class MoveState:
    """How many contents of a collection are not in its storage, and their bytes.

    `requested_at` is when a move was requested that has not ended; None if there is none.
    """

    storage: str
    requested_at: datetime | None
    left: int
    left_size: int


class CollectionMoves:
    """Moves what was requested. It can be stopped at any time, and goes on with the next run.

    The versions of the collection, and what it has in the trash, are read from the new storage then. The objects in the
    former one are superseded when no other collection and no file promises them there, and deleted two days later.
    """

    def __init__(self, database: Database, blobs: Blobs) -> None:
        self._database = database
        self._blobs = blobs
        self._backends = blobs.backends

    def request(self, collection_id: str) -> MoveState:
        """Note that the job shall move what the collection has into the storage that it names."""
        name, value = _PREFIX + collection_id, utc_now().isoformat()
        self._database.write(lambda session: session.merge(Installation(name=name, value=value)))
        return self.state(collection_id)

    def state(self, collection_id: str) -> MoveState:
        """Return how much of a collection is not in its storage. Raises `NotFoundError` if it does not exist."""
        target = self._target(collection_id)
        if target is None:
            raise NotFoundError("The collection does not exist any more")
        with self._database.reading() as session:
            requested = session.get(Installation, _PREFIX + collection_id)
            left = _contents_elsewhere(collection_id, target)
            count, size = session.execute(left.with_only_columns(func.count(Content.id), func.sum(Content.size))).one()
        at = datetime.fromisoformat(requested.value) if requested else None
        return MoveState(storage=target, requested_at=at, left=count, left_size=int(size or 0))

    def requested(self) -> Sequence[str]:
        """Return the ids of the collections that are to be moved, in the order of the requests."""
        with self._database.reading() as session:
            rows = select(Installation).where(Installation.name.startswith(_PREFIX, autoescape=True))
            found = session.scalars(rows.order_by(Installation.value)).all()
        return [row.name.removeprefix(_PREFIX) for row in found]

    def run(self, *, pace: Callable[[int], None] = lambda size: None, progress: Progress = no_progress) -> MoveReport:
        """Move all requested collections. What cannot be moved stays where it is, and the request is done.

        `pace` is called with the number of bytes that were read back; it may wait, or end the run by an exception.
        """
        report = MoveReport()
        for collection_id in self.requested():
            done, target = MoveReport(), self._target(collection_id)
            if target is not None:
                self._move_all(collection_id, target, done, pace, progress)
                report.add(done)
            self._database.write(partial(_end_request, collection_id, target, done))
        return report

    def _target(self, collection_id: str) -> str | None:
        with self._database.reading() as session:
            row = session.get(Collection, collection_id)
            return None if row is None else row.storage or self._backends.current

    def _move_all(
        self, collection_id: str, target: str, report: MoveReport, pace: Callable[[int], None], progress: Progress
    ) -> None:
        ownership = Ownership(self._database, self._backends)
        ownership.claim(target)
        self._blobs.presence.look(target)
        with self._database.reading() as session:
            left = _contents_to_move(collection_id, target).with_only_columns(func.count(Content.id)).order_by(None)
            total = session.scalar(left) or 0
        for done, content in enumerate(self._contents(collection_id, target), start=1):
            pace(0)
            try:
                if self._move(collection_id, content, target, pace):
                    report.moved, report.size = report.moved + 1, report.size + content.size
            except (BlobNotFound, UnreadableError, DamagedBlobError) as error:
                place = content.place
                where = f"{place.storage} {place.key}" if place else content.digest
                report.failed.append(f"{where}: {error}")
                log.error("collection %s: %s was not moved: %s", collection_id, where, error)
            progress(done=done, total=total, size=content.size)

    def _contents(self, collection_id: str, target: str) -> Iterator[Content]:
        after = 0
        while True:
            with self._database.reading() as session:
                rows = session.scalars(_contents_to_move(collection_id, target, after).limit(PAGE)).all()
            if not rows:
                return
            yield from rows
            after = rows[-1].id

    def _move(self, collection_id: str, content: Content, target: str, pace: Callable[[int], None]) -> bool:
        with self._database.reading() as session:
            known = find_current(session, content.id, target)
            places = [row for row in find_places(session, content.digest, self._backends.current) if row.key]
        if is_there(self._backends.get(target), known):
            return self._database.write(partial(self._switch, collection_id, content.id, target, None))
        if not places:
            raise BlobNotFound(f"No object of the content {content.digest} is left")
        source = places[0]
        with NewRawObject(self._database, self._backends, self._blobs.presence, source, target, pace) as new:
            return new.use(partial(self._switch, collection_id, content.id, target, new))

    def _switch(
        self, collection_id: str, content_id: int, target: str, new: NewRawObject | None, session: Session
    ) -> bool:
        """Promise the content in the target, which has it, or gets the object `new`; then supersede what is unpromised.

        Return whether anything was changed: not if the storage of the collection was changed, or nothing uses it.
        """
        lock_contents(session, [content_id])
        collection = session.get(Collection, collection_id)
        if collection is None or (collection.storage or self._backends.current) != target:
            return False
        promise = find_promises(session, self._backends, [content_id])[content_id]
        if not promise.homes:
            return False
        if new is not None:
            new.insert(session, KEPT_FOR)
        else:
            row = find_current(session, content_id, target)
            if row is None or row.state in LACKING:
                return False
            row.role = FIRST
        superseded = supersede_unpromised(session, self._backends, content_id, keeps=KEPT_FOR)
        self._blobs.want_copies(session, [content_id])
        return new is not None or superseded > 0


def _end_request(collection_id: str, target: str | None, done: MoveReport, session: Session) -> None:
    """Forget the request, and record what was done for it; a collection that was deleted has no `target`."""
    session.execute(delete(Installation).where(Installation.name == _PREFIX + collection_id))
    if target is not None:
        data: dict[str, Any] = {
            "storage": target,
            "contents": done.moved,
            "size": done.size,
            "failed": len(done.failed),
        }
        record(session, collection_event(EventKind.COLLECTION_MOVED, collection_id, by=_MOVER, **data))


def _users(collection_id: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Return the conditions that a file is of a version of the collection, and that an entry of the trash is of it."""
    incarnation = select(func.coalesce(Collection.incarnation, Collection.id)).where(Collection.id == collection_id)
    files = select(Version.file_id).where(Version.collection_id == collection_id)
    return File.id.in_(files), TrashEntry.incarnation.in_(incarnation)


def _contents_elsewhere(collection_id: str, target: str) -> Select[Content]:
    """Return a query for the contents of a collection of which the target has no sound first copy."""
    return select(Content).where(~_has_first(StoredObject.storage == target), _is_of(collection_id))


def _contents_to_move(collection_id: str, target: str, after: int = 0) -> Select[Content]:
    """Return a query for these, and for those that may have first copies that no collection wants any more."""
    is_to_move = or_(~_has_first(StoredObject.storage == target), _has_first(StoredObject.storage != target))
    return select(Content).where(is_to_move, _is_of(collection_id), Content.id > after).order_by(Content.id)


def _is_of(collection_id: str) -> ColumnElement[bool]:
    """Return the condition that a collection uses a content."""
    of_versions, of_trash = _users(collection_id)
    return or_(
        Content.id.in_(select(File.content_id).where(of_versions)),
        Content.id.in_(select(TrashEntry.content_id).where(of_trash)),
    )


def _has_first(where: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return the condition that a content has a sound first copy where this is true."""
    present = (StoredObject.slot == CURRENT, StoredObject.state == ObjectState.PRESENT.value, where)
    first = select(StoredObject.id).where(StoredObject.content_id == Content.id, StoredObject.role == FIRST, *present)
    return first.exists()
