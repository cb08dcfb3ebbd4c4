"""Moves what a collection has into the storage that it names, while the service runs. Requested, and done by a job."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, func, or_, select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob, Collection, File, Installation, TrashEntry, Version
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Actor
from frepo_core.errors import BlobNotFound, NotFoundError

from ...content.blobs.blob_damage import UnreadableError
from ...content.blobs.lifecycle import Blobs
from ...content.chains.dependents import store_raw
from ...content.storages.sweep_guard import Ownership
from ...events.facts import collection_event
from ...events.recording import record
from .copied_blob import CopiedBlob, DamagedBlobError, is_sound, lock_content
from .progress import Progress, no_progress

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


@dataclass(frozen=True, kw_only=True)
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

    The versions of the collection, and what it has in the trash, use the copies in the new storage. The old bytes are
    deleted when nothing else uses them.
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
            left = _blobs_elsewhere(collection_id, target).order_by(None)
            count, size = session.execute(left.with_only_columns(func.count(Blob.id), func.sum(Blob.size))).one()
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
            left = _blobs_elsewhere(collection_id, target).with_only_columns(func.count(Blob.id)).order_by(None)
            total = session.scalar(left) or 0
        for done, row in enumerate(self._rows(collection_id, target), start=1):
            pace(0)
            try:
                if self._move(collection_id, row, target, pace):
                    report.moved, report.size = report.moved + 1, report.size + row.size
            except (BlobNotFound, UnreadableError, DamagedBlobError) as error:
                report.failed.append(f"{row.storage} {row.key}: {error}")
                log.error("collection %s: the blob %s was not moved: %s", collection_id, row.key, error)
            progress(done=done, total=total, size=row.size)

    def _rows(self, collection_id: str, target: str) -> Iterator[Blob]:
        after = 0
        while True:
            with self._database.reading() as session:
                rows = session.scalars(_blobs_elsewhere(collection_id, target, after).limit(PAGE)).all()
            if not rows:
                return
            yield from rows
            after = rows[-1].id

    def _move(self, collection_id: str, row: Blob, target: str, pace: Callable[[int], None]) -> bool:
        with self._database.reading() as session:
            known = session.scalar(select(Blob).where(Blob.digest == row.digest, Blob.storage == target))
        if is_sound(self._backends.get(target), known):
            is_moved = self._database.write(partial(self._switch, collection_id, row, target, None))
        else:
            with CopiedBlob(self._database, self._backends, self._blobs.presence, row, target, pace) as copy:
                is_moved = copy.use(self._database, partial(self._switch, collection_id, row, target, copy))
        if is_moved:
            self._blobs.collect([row.id])
        return is_moved

    def _switch(self, collection_id: str, seen: Blob, target: str, copy: CopiedBlob | None, session: Session) -> bool:
        """Let the collection use the content in the target; `copy` are bytes for it, None: it has sound ones.

        Return whether anything was changed: not if the blob or the storage of the collection were changed meanwhile.
        """
        rows = lock_content(session, seen.digest, (seen.storage, target))
        row, known = rows.get(seen.storage), rows.get(target)
        collection = session.get(Collection, collection_id)
        if row is None or row.key != seen.key or collection is None:
            return False
        if (collection.storage or self._backends.current) != target or (copy is None and known is None):
            return False
        if copy is not None:
            copy.require_there()
            known = known or _new_row(session, row, target, copy)
            store_raw(known, copy.key)
            known.checksum = copy.sums.checksum
            known.verified_at, known.damaged_at = utc_now(), None  # the copy was read back and is sound
            session.flush()
        assert known is not None  # or there is a copy
        of_versions, of_trash = _users(collection_id)
        session.execute(update(File).where(File.blob_id == row.id, of_versions).values(blob_id=known.id))
        session.execute(update(TrashEntry).where(TrashEntry.blob_id == row.id, of_trash).values(blob_id=known.id))
        self._blobs.want_copies(session, [known.id])
        return True


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


def _new_row(session: Session, row: Blob, target: str, copy: CopiedBlob) -> Blob:
    new = Blob(
        digest=row.digest,
        checksum=copy.sums.checksum,
        size=row.size,
        storage=target,
        key=copy.key,
        mime=row.mime,
        created_at=utc_now(),
    )
    session.add(new)
    return new


def _users(collection_id: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Return the conditions that a file is of a version of the collection, and that an entry of the trash is of it."""
    incarnation = select(func.coalesce(Collection.incarnation, Collection.id)).where(Collection.id == collection_id)
    files = select(Version.file_id).where(Version.collection_id == collection_id)
    return File.id.in_(files), TrashEntry.incarnation.in_(incarnation)


def _blobs_elsewhere(collection_id: str, target: str, after: int = 0) -> Select[Blob]:
    of_versions, of_trash = _users(collection_id)
    used = or_(
        Blob.id.in_(select(File.blob_id).where(of_versions)), Blob.id.in_(select(TrashEntry.blob_id).where(of_trash))
    )
    return select(Blob).where(Blob.storage != target, Blob.id > after, used).order_by(Blob.id)
