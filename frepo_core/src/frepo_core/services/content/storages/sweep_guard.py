"""Whose storage is it: a storage is swept only if the marks in it are those that this database left there.

Two services on one storage, or a database restored from an old backup, would take blobs of others, or new ones, for
orphans. So each sweep stores a new mark with a higher epoch, then reads the marks of all databases, and deletes nothing
if there is one that this database did not leave, or if its own last one is missing. Keys are never overwritten, so of
two services that store their marks at the same time, at least one finds the mark of the other.

A database that was restored since the last sweep has the right mark. What tells it is a part of the journal that it
does not know.

A neighbour that leaves no marks, such as an older frepo, is not found that way. What tells it is blobs without a row
that are older than the first mark of this database: the job leaves them to the operator, see `sweep`.

A kill at any step leaves a state that the next sweep accepts. A mark is recorded before it is stored, it counts as the
current one only after it was stored, and the older ones are deleted after that.
"""

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import StorageMark, StoredObject
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By
from frepo_core.errors import BlobNotFound, StorageFull, SweepStoppedError
from frepo_core.plugins import BlobStat

from ...base.failpoints import hit
from ...base.installation import ensure_id
from ...events.recording import NewEvent, record
from .backends import Backends
from .kept_blobs import note_adoption
from .owner_mark import OwnerMark, find_marks
from .second_names import require_own_place, require_two_places
from .storage_identity import find_absence, is_there, require_known_blobs

log = logging.getLogger(__name__)

# Some storages tell times in whole seconds.
CLOCK_STEP = timedelta(seconds=1)


class StorageDisputedError(SweepStoppedError):
    """The marks in a storage are not those that this database left there. Nothing is deleted from it."""


class Ownership:
    """The marks of this database in its storages."""

    def __init__(self, database: Database, backends: Backends, *, by: By = None) -> None:
        """`by` is who sweeps or adopts, for events."""
        self._database = database
        self._backends = backends
        self._by = by

    def claim(self, storage: str) -> None:
        """Leave a first mark, unless this database has left one before. Does not look for the marks of others.

        Raises `StorageUnavailable` if the database names blobs in the storage that are not there.
        """
        if self.current(storage) is None:
            require_own_place(self._database, self._backends, storage)
            require_known_blobs(self._database, self._backends, storage)
            self._leave_next(storage)
            log.info("the storage %s was marked as that of the database %s", storage, ensure_id(self._database))

    def require_unused(self, storage: str) -> None:
        """Raise `ConfigurationError` if another storage keeps its blobs in this one: they have no rows of its name."""
        with self._database.reading() as session:
            others = session.scalars(
                select(StoredObject.storage).where(StoredObject.storage != storage).distinct()
            ).all()
        self._backends.require_unused(storage, others)

    def current(self, storage: str) -> OwnerMark | None:
        """Return the last mark that this database has stored, or None if it has never stored one."""
        with self._database.reading() as session:
            rows = select(StorageMark).where(StorageMark.storage == storage, StorageMark.is_stored)
            row = session.scalar(rows.order_by(StorageMark.epoch.desc()).limit(1))
        return None if row is None else OwnerMark(database=ensure_id(self._database), epoch=row.epoch, nonce=row.nonce)

    def find_first(self, storage: str) -> datetime | None:
        """Return the time of this database's first mark (UTC, the storage's clock, rounded up), or the current time.

        Returns None if the storage was adopted: then all that is in it belongs to this database, whatever its age.
        """
        with self._database.reading() as session:
            query = select(func.min(StorageMark.made_at), func.max(StorageMark.adopted_at))
            first, adopted = session.execute(query.where(StorageMark.storage == storage, StorageMark.is_stored)).one()
        return None if adopted else (first or utc_now()) + CLOCK_STEP

    def read_clock(self, storage: str) -> datetime:
        """Return the time of the current mark, which `raise_epoch` has left (UTC, the storage's clock, rounded up).

        In a full storage it is an older one.
        """
        query = select(StorageMark.made_at).where(StorageMark.storage == storage, StorageMark.is_stored)
        with self._database.reading() as session:
            return session.scalars(query.order_by(StorageMark.epoch.desc()).limit(1)).one() + CLOCK_STEP

    def count_older(self, storage: str, orphans: Sequence[BlobStat]) -> int:
        """Return how many of these blobs are older than the first mark, and so may belong to another service."""
        first = self.find_first(storage)
        return sum(first is not None and orphan.modified <= first for orphan in orphans)

    def raise_epoch(self, storage: str) -> None:
        """Leave a mark with the next epoch. Raises `StorageDisputedError` if the current mark is missing.

        A storage that was never marked is checked as by `claim`.

        If a full storage has no room for it, the current mark stays, so that a sweep can free space. A storage that
        was never marked raises `StorageFull` then.
        """
        current = self.current(storage)
        if current is None:
            require_own_place(self._database, self._backends, storage)
            require_known_blobs(self._database, self._backends, storage)
        elif self._is_missing(storage, current):
            self._refuse(storage, find_marks(self._backends.get(storage)))
        try:
            self._leave_next(storage)
        except StorageFull:
            if current is None:
                raise
            log.warning("the storage %s is full: it keeps the owner's mark with the epoch %s", storage, current.epoch)

    def confirm(self, storage: str, found: Sequence[OwnerMark]) -> None:
        """Check all marks that were found in the storage, and delete the older ones of this database.

        Raises `StorageDisputedError` if there is another mark, or if the current one is missing.
        """
        if self.find_problem(storage, found):
            self._refuse(storage, found)
        current = self.current(storage)
        below = self._marks_below(storage)
        for mark in found:
            if current and mark.epoch < current.epoch and mark not in below:
                self._backends.get(storage).delete(mark.key)
                hit("old_mark_deleted")

    def find_problem(self, storage: str, found: Sequence[OwnerMark]) -> str | None:
        """Return what differs between database and storage, or None. Changes nothing."""
        current, own = self.current(storage), self._own_marks(storage) | self._marks_below(storage)
        others = [mark for mark in found if mark not in own]
        # A concurrent sweep may have left the current mark after the storage was listed, so it is looked for again.
        if current is None and not others:
            return find_absence(self._database, self._backends, storage)
        is_missing = current is not None and current not in found and self._is_missing(storage, current)
        if not is_missing and not others:
            newer = self._backends.journals.find_newer(storage)
            return f"its journal has {newer}, which this database lacks: the database was restored" if newer else None
        return _describe(current, others, is_missing=is_missing, database=ensure_id(self._database))

    def adopt(self, storage: str, *, keeps_unknown: bool = False) -> OwnerMark:
        """Make this database the only owner of all that is in the storage: leave a new mark, then delete all others.

        If the marks differed, or with `keeps_unknown`, blobs that the database does not know are kept for 30 days: they
        may be what a restored database has lost. Returns the new mark.
        """
        self.require_unused(storage)
        require_two_places(self._database, self._backends, storage)
        found = find_marks(self._backends.get(storage))
        problem = self.find_problem(storage, found)
        mark = self._leave_next(storage, above=max((mark.epoch for mark in found), default=0))
        row = update(StorageMark).where(StorageMark.storage == storage, StorageMark.epoch == mark.epoch)
        self._database.write(lambda session: session.execute(row.values(adopted_at=utc_now())), may_use_reserve=True)
        if problem or keeps_unknown:
            note_adoption(self._database, storage, mark.epoch)
        data = {"storage": storage, "epoch": mark.epoch, "problem": problem}
        self._record(EventKind.STORAGE_ADOPTED, data)
        for other in set(found) - self._marks_below(storage):
            self._backends.get(storage).delete(other.key)
        log.info("the storage %s was adopted with the epoch %s: %s marks deleted", storage, mark.epoch, len(found))
        return mark

    def _refuse(self, storage: str, found: Sequence[OwnerMark]) -> None:
        if problem := self.find_problem(storage, found):
            self._record(EventKind.STORAGE_DISPUTED, {"storage": storage, "problem": problem})
            raise StorageDisputedError(
                f"The storage {storage!r} may hold blobs of others: {problem}. Nothing was deleted. If another service "
                "uses this storage, give one of them a storage of its own (a directory, bucket or prefix). To see "
                f"both sides, and to make this database the only owner: frepo storage:adopt --storage {storage}"
            )

    def _leave_next(self, storage: str, *, above: int = 0) -> OwnerMark:
        database_id = ensure_id(self._database)

        def insert(session: Session) -> OwnerMark:
            last = session.scalar(select(func.max(StorageMark.epoch)).where(StorageMark.storage == storage)) or 0
            mark = OwnerMark.make(database_id, max(last, above) + 1)
            session.add(
                StorageMark(storage=storage, epoch=mark.epoch, nonce=mark.nonce, is_stored=False, made_at=utc_now())
            )
            session.flush()
            return mark

        mark = self._database.write(insert, may_use_reserve=True)
        hit("mark_recorded")
        backend = self._backends.get(storage)
        mark.store(backend, utc_now())
        hit("mark_stored")
        values: dict[str, Any] = {"is_stored": True}
        with suppress(BlobNotFound):  # a concurrent sweep has deleted it
            values["made_at"] = backend.stat(mark.key).modified
        row = update(StorageMark).where(StorageMark.storage == storage, StorageMark.epoch == mark.epoch)
        self._database.write(lambda session: session.execute(row.values(values)), may_use_reserve=True)
        hit("mark_current")
        return mark

    def _record(self, kind: EventKind, data: Mapping[str, Any]) -> None:
        event = NewEvent(kind=kind, by=self._by, data=data)
        self._database.write(lambda session: record(session, event), may_use_reserve=True)

    def _marks_below(self, storage: str) -> set[OwnerMark]:
        """Return the marks of the storages in which this one keeps its blobs: it may show them."""
        return self._own_marks(*self._backends.layers_below(storage))

    def _own_marks(self, *storages: str) -> set[OwnerMark]:
        with self._database.reading() as session:
            rows = session.scalars(select(StorageMark).where(StorageMark.storage.in_(storages))).all()
        database_id = ensure_id(self._database)
        return {OwnerMark(database=database_id, epoch=row.epoch, nonce=row.nonce) for row in rows}

    def _is_missing(self, storage: str, mark: OwnerMark) -> bool:
        """Return whether the mark is missing although it is still the current one: a concurrent sweep deletes it."""
        return not is_there(self._backends.get(storage), mark.key) and self.current(storage) == mark


def _describe(current: OwnerMark | None, others: Sequence[OwnerMark], *, is_missing: bool, database: str) -> str:
    """Return the differences, with what probably caused them."""
    texts = []
    strangers = {mark.database: mark.epoch for mark in others if mark.database != database}
    if strangers:
        known = ", ".join(f"{name} (epoch {epoch})" for name, epoch in strangers.items())
        texts.append(f"another database uses it or used it: {known}; this one is {database}")
    copies = [mark.epoch for mark in others if mark.database == database]
    mine = current.epoch if current else 0
    if copies:
        cause = "restored from an old backup" if max(copies) > mine and is_missing else "copied"
        texts.append(
            f"its epoch is {max(copies)}, that of this database is {mine}: the database was {cause}, "
            "or a copy of the database uses the storage"
        )
    if is_missing and not texts:
        texts.append(
            f"the mark of this database (epoch {mine}) is missing: the storage was emptied, exchanged, or restored "
            "from an old backup"
        )
    return "; ".join(texts)
