"""Copies and encodings of the real services, one step at a time."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from frepo_core.db.clock import read_clock
from frepo_core.db.models import Content, StoredObject
from frepo_core.domain.naming import new_blob_key
from frepo_core.features.compact.encoding_switch import NewObject
from frepo_core.features.compact.feature import CompactServices
from frepo_core.features.second_copies.copier import Copier, CopyResult, CopyTask, Outcome
from frepo_core.features.second_copies.copy_claims import _find_source
from frepo_core.features.second_copies.copy_results import record_results
from frepo_core.features.second_copies.work_queue import claim_batch
from frepo_core.services.content.blobs.blob_reader import BlobReader
from frepo_core.services.content.objects.uses import is_used
from model.state import DAMAGED, MISSING, PRESENT, RAW, WANTED
from support.encodings.stored import StoredBlobs

from .places import DIGESTS, STORAGES, Places
from .telling import NotDoneError, NotDrivenError


class Copies:
    """The copies that the job `mirror` makes, by content and storage."""

    def __init__(self, services: Any, places: Places) -> None:
        self._places = places
        self._copier = Copier(places.backends, services.presence, services.chain_reader, lambda size: None)
        self._tasks: dict[tuple[int, int], CopyTask] = {}
        self._results: dict[tuple[int, int], CopyResult] = {}

    def has(self, content: int, storage: int) -> bool:
        """Return whether a copy is being made."""
        return (content, storage) in self._tasks

    def begin(self, content: int, base: int, storage: int, **_: Any) -> None:
        """Give a copy its key. One that was damaged is read once more before."""
        if any(row.slot and row.state == PRESENT for row in self._places.find(content, storage)):
            raise NotDrivenError  # the copy that was about to leave is back
        if self._form(content, storage) != base:
            raise NotDrivenError  # the service copies another form, or waits for the base
        for _again in range(3):
            self._make_due()
            this = DIGESTS[content], STORAGES[storage]
            others = [row.id for row in self._places.rows() if (row.digest, row.storage) != this]
            tasks = claim_batch(self._places.database, self._places.backends, STORAGES[storage], others)
            if tasks and tasks[0].source is not None:
                self._tasks[content, storage] = tasks[0]
                return
            for task in tasks:
                self._record(self._copier.copy(task))
        raise NotDoneError("nothing is copied")

    def _form(self, content: int, storage: int) -> int | None:
        """Return what the job would make now: a difference to a content, or raw; None if it waits for the base."""
        for row in self._places.find(content, storage):
            if row.slot is not None:
                with self._places.database.reading() as session:
                    source, is_decoded = _find_source(session, self._places.backends, row)
                if source is None:
                    return None
                return DIGESTS.index(source.base_digest) if source.base_digest and not is_decoded else RAW
        return None

    def store(self, content: int, storage: int) -> None:
        """Store the bytes of a copy, and read them back."""
        self._results[content, storage] = self._copier.copy(self._tasks[content, storage])

    def finish(self, content: int, storage: int) -> bool:
        """Record what became of a copy; return whether it is there. A source that may be wrong is read."""
        task, result = self._tasks.pop((content, storage)), self._results.pop((content, storage))
        self._record(result)
        if result.outcome is Outcome.SOURCE_FAILED and task.source is not None:
            BlobReader(self._places.database, self._places.backends).read(task.source)
        return result.outcome is Outcome.PRESENT

    def fail(self, content: int, storage: int) -> None:
        """Let a copy fail that has no source any more."""
        task = self._tasks[content, storage]
        if task.source is not None and task.source.key in self._places.keys(task.source.storage):
            raise NotDrivenError  # it is copied with its fault
        self._record(self._copier.copy(self._tasks.pop((content, storage))))

    def _record(self, result: CopyResult) -> None:
        record_results(self._places.database, self._places.backends, [result])

    def _make_due(self) -> None:
        with self._places.database.reading() as session:
            now = read_clock(session)
        waiting = StoredObject.state.in_([WANTED, DAMAGED, MISSING])
        self._places.database.execute(update(StoredObject).where(waiting).values(next_try=now))


@dataclass
class Encoding:
    """An object that is encoded. It has no row until it becomes the current one."""

    row: StoredObject
    content: int
    storage: int
    base: int
    new: NewObject | None = None
    is_ended: bool = False


class Encodings:
    """The differences that the job `compact` makes."""

    def __init__(self, services: Any, places: Places) -> None:
        self._places = places
        self._switch = services.feature(CompactServices).switch
        self._blobs = StoredBlobs(services)
        self._all: list[Encoding] = []

    def __iter__(self) -> Iterator[Encoding]:
        """Yield those that have no row."""
        return iter(self._all)

    def plan(self, content: int, base: int, storage: int, **_: Any) -> None:
        """Let an object be encoded."""
        if base == RAW:
            raise NotDrivenError  # the service expands within one step
        self._all.append(Encoding(self._places.find_current(content, storage), content, storage, base))

    def store(self, content: int, base: int, storage: int) -> None:
        """Store the encoded object."""
        encoding, target = self._find(content, base, storage), BytesIO()
        head = self._blobs.write_object(encoding.row, self._places.find_current(base, storage), target)
        key, digest = new_blob_key(DIGESTS[content]), hashlib.sha256(target.getvalue()).hexdigest()
        self._places.expect(digest)
        self._places.memory[STORAGES[storage]].store(key, BytesIO(target.getvalue()), head.stored)
        encoding.new = NewObject(key=key, encoding=head.codec, size=head.stored, digest=digest, base_digest=head.base)

    def finish(self, content: int, base: int, storage: int) -> bool:
        """Let the encoded object become the current one; return whether it did."""
        encoding = self._find(content, base, storage)
        assert encoding.new is not None
        if self._switch.switch(encoding.row, encoding.new, most_levels=11, allow=_is_in_use):
            self._all.remove(encoding)
            return True
        encoding.is_ended = True
        return False

    def fail(self, content: int, base: int, storage: int) -> None:
        """Give up an encoding that has no source any more."""
        self._all.remove(self._find(content, base, storage))

    def delete_ended(self, base: int, storage: int) -> None:
        """Delete the bytes of one that did not become the current one, if there is one."""
        for one in self._all:
            if one.is_ended and one.new is not None and (one.base, one.storage) == (base, storage):
                self._places.memory[STORAGES[storage]].delete(one.new.key)
                self._all.remove(one)
                return

    def _find(self, content: int, base: int, storage: int) -> Encoding:
        these = (one for one in self._all if (one.content, one.base, one.storage) == (content, base, storage))
        return next(one for one in these if not one.is_ended)


def _is_in_use(session: Session, row: StoredObject, base: StoredObject | None) -> bool:
    """Return whether an object is worth an encoding, as the planner says."""
    used = select(Content.id).where(Content.id == row.content_id, is_used())
    return session.scalar(used) is not None
