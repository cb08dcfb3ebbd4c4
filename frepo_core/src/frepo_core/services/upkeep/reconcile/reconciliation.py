"""Compares all that storages have with the records: what was lost is found, and what is gone is known to be missing."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from sqlalchemy import update
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.clock import read_clock
from frepo_core.db.models import Installation, StoredObject, TrashEntry
from frepo_core.errors import BlobNotFound, FrepoError

from ...base.temporary_folder import TemporaryFolder
from ...content.objects.found_objects import FoundObjects, unlisted
from ...content.objects.necessity import may_be_older
from ...content.objects.settlement import Settlement
from ...content.objects.states import ENDED, ObjectState
from ...content.storages.backends import Backends
from ...content.storages.kept_blobs import RECONCILE
from ...content.storages.write_guard import Presence
from .staging import Staging, list_storage

PAGE = 200
# A database that was restored, or recovered, does not know what was uploaded last.
KEPT_FOR = timedelta(days=30)
# Until then, `recover --merge` can say what was restored from the trash since the backup of the database.
TRASH_KEPT_FOR = timedelta(hours=48)


@dataclass(kw_only=True)
class Reconciled:
    """The numbers of objects that were found, that are missing, that became current, and that are wanted now."""

    found: int = 0
    missing: int = 0
    current: int = 0
    wanted: int = 0


class Reconciliation:
    """Reconciles storages that the staging lists completely. It may be stopped at any time, and repeated."""

    def __init__(
        self,
        database: Database,
        backends: Backends,
        staging: Staging,
        *,
        notes: Callable[[str], None] = lambda text: None,
        keep_going: Callable[[], None] = lambda: None,
    ) -> None:
        self._database = database
        self._backends = backends
        self._staging = staging
        self._notes = notes
        self._keep_going = keep_going

    def run(self, storages: Iterable[str], *, owned: Collection[str]) -> Reconciled:
        """Register what has no record, mark what is not there, then choose the current objects of all contents.

        No content is read, but the heads of objects that do not have the size of their content. Of a storage that is
        not one of those `owned`, only objects of known contents are registered: the others are those of somebody else.
        """
        done, reconciled = Reconciled(), list[str]()
        for storage in storages:
            done.found += self._register(storage, only_known=storage not in owned)
            missing = self._mark_missing(storage)
            if missing is not None:
                done.missing += missing
                reconciled.append(storage)
        settled = Settlement(self._database, self._backends, keep_going=self._keep_going).settle_all(keeps=KEPT_FOR)
        done.current, done.wanted = settled.current, settled.wanted
        for storage in reconciled:
            self._database.write(partial(_note_reconciled, storage))
        return done

    def _register(self, storage: str, *, only_known: bool) -> int:
        found, count, listed = FoundObjects(self._database, self._backends), 0, 0
        for page in self._staging.pages(storage, PAGE):
            self._keep_going()
            ids = found.register(storage, page, keeps=KEPT_FOR, only_known=only_known)
            found.look_again(storage, page, keeps=timedelta())
            if doubted := self._staging.find_doubted(storage, list(ids)):
                self._database.write(partial(_note_damaged, [ids[key] for key in doubted]))
            count += len(ids)
            listed += len(page)
            self._notes(f"{storage}: {listed} objects compared, {count} found by their keys and heads")
        return count

    def _mark_missing(self, storage: str) -> int | None:
        """Mark what a storage lacks; return the number, or None if it cannot be told what it lacks."""
        after = missing = 0
        try:
            Presence(self._database, self._backends).look_for_mark(storage)
        except FrepoError as error:  # another disk is mounted there, or it does not answer
            self._notes(f"{storage}: nothing is marked as missing, and nothing is deleted yet: {error.message}")
            return None
        while True:
            self._keep_going()
            with self._database.reading() as session:
                rows = unlisted(session, storage, after, PAGE)
            if not rows:
                return missing
            there = self._staging.find_keys(storage, [str(row.key) for row in rows])
            # What was stored since the listing began is there.
            lost = [row.id for row in rows if row.key not in there and not self._is_there(row)]
            if lost:
                missing += self._database.write(lambda session, lost=lost: _mark(session, lost))  # type: ignore[misc]
            after = rows[-1].id

    def _is_there(self, row: StoredObject) -> bool:
        try:
            self._backends.get(row.storage).stat(str(row.key))
        except BlobNotFound:
            return False
        return True


def _note_reconciled(storage: str, session: Session) -> None:
    """Let contents be deleted again. What was ending before may have been used since, so it is kept."""
    was_waiting = session.get(Installation, RECONCILE + storage)
    if was_waiting is None:
        return
    session.delete(was_waiting)
    until = read_clock(session) + KEPT_FOR
    ending = (StoredObject.storage == storage, StoredObject.slot.is_(None), StoredObject.state.not_in(ENDED))
    session.execute(update(StoredObject).where(*ending, StoredObject.delete_after < until).values(delete_after=until))
    if not may_be_older(session):
        soon = read_clock(session) + TRASH_KEPT_FOR
        session.execute(update(TrashEntry).where(TrashEntry.ends_at < soon).values(ends_at=soon))


def _note_damaged(object_ids: list[int], session: Session) -> None:
    damaged = update(StoredObject).where(StoredObject.id.in_(object_ids))
    session.execute(damaged.values(state=ObjectState.DAMAGED.value, error="it was damaged before"))


def _mark(session: Session, object_ids: list[int]) -> int:
    now = read_clock(session)
    lost = update(StoredObject).where(StoredObject.id.in_(object_ids))
    values = {"state": ObjectState.MISSING.value, "since": now, "next_try": now, "error": "it is not in the storage"}
    session.execute(lost.values(values))
    session.execute(lost.where(StoredObject.slot.is_(None)).values(delete_after=now))
    return len(object_ids)


def reconcile_storage(
    database: Database,
    backends: Backends,
    storage: str,
    *,
    notes: Callable[[str], None] = lambda text: None,
    keep_going: Callable[[], None] = lambda: None,
) -> Reconciled:
    """List one storage, which this database owns, and reconcile it."""
    with TemporaryFolder("frepo-reconcile-", None) as folder:
        staging = Staging(folder.path)
        try:
            list_storage(backends.get(storage), storage, staging, notes)
            staging.index_stored()
            reconciliation = Reconciliation(database, backends, staging, notes=notes, keep_going=keep_going)
            return reconciliation.run([storage], owned={storage})
        finally:
            staging.close()


def is_reconciled(database: Database, storage: str) -> bool:
    """Return whether a storage was reconciled since it was adopted."""
    with database.reading() as session:
        return session.get(Installation, RECONCILE + storage) is None
