"""Makes the second storage the first one, after the loss of the first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, or_, select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob, BlobCopy, Collection, File, TrashEntry, Version
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By
from frepo_core.errors import FrepoError, StorageError

from ...base.lease import find_older_process
from ...content.blobs.blob_use import is_used
from ...content.blobs.failpoints import hit
from ...content.blobs.lifecycle import Blobs
from ...content.copies.states import CopyState
from ...content.storages.first_storage import (
    Promotion,
    follow_promotion,
    hold_promotion,
    read_promotion,
    store_promotion,
)
from ...content.storages.storage_identity import NEWEST, is_there
from ...events.recording import NewEvent, record
from ..storage.progress import Progress, no_progress
from .incomplete_chains import with_incomplete_chain
from .row_switch import RowSwitch

NAMED = 20


class PromotionRefusedError(FrepoError):
    """The storage cannot become the first one, or not without a loss that nobody has accepted."""


@dataclass(frozen=True, kw_only=True)
class Loss:
    """What can only be read if the former first storage works again.

    :param contents: the number of contents that have no second copy that can be decoded, and `size` their bytes
    :param names: the newest versions and files that use them, for people
    :param works: whether the former storage answers and is the right one
    """

    contents: int
    size: int
    names: Sequence[str]
    works: bool


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a promotion of `storage` instead of `former` means. `contents` is the number of those in `former`."""

    storage: str
    former: str
    contents: int
    loss: Loss


class Promotions:
    """Promotes storages. The steps can be repeated: a process may be killed after each of them."""

    def __init__(self, database: Database, blobs: Blobs) -> None:
        self._database = database
        self._blobs = blobs
        self._backends = blobs.backends
        self._presence = blobs.presence

    def plan(self, storage: str, *, former: str | None = None) -> Plan:
        """Check what can be checked, and count what has no copy in the storage. `former`: the first one.

        Raises `PromotionRefusedError` if the storage does not work, or lacks bytes that the database says it has.
        """
        follow_promotion(self._database, self._backends)
        former = former or self._backends.current
        self._backends.check_name(storage)
        self._backends.check_name(former)
        if storage == former:
            raise PromotionRefusedError(f"{storage!r} is the first storage already")
        if holder := find_older_process(self._database):
            raise PromotionRefusedError(
                f"The process {holder} is of an older version of frepo, which would go on to store in {former!r}. "
                "Stop it, wait until its lease has ended, and try again"
            )
        self._require_works(storage)
        with self._database.reading() as session:
            contents = _count(session, Blob.storage == former, is_used())[0]
            number, size = _count(session, *_lacks_copy(storage, former))
            names = _name_users(session, *_lacks_copy(storage, former)) if number else []
        loss = Loss(contents=number, size=size, names=names, works=self._works(former))
        return Plan(storage=storage, former=former, contents=contents, loss=loss)

    def promote(self, plan: Plan, *, by: By = None) -> Promotion | None:
        """Make the storage of the plan the first one. Return None if it is that already.

        All processes follow with their next upload, or within a minute. Collections that name the former storage follow
        the first one, too.
        """
        made = self._database.write(lambda session: self._write(session, plan, by))
        hit("promoted")
        follow_promotion(self._database, self._backends)
        return made

    def _write(self, session: Session, plan: Plan, by: By) -> Promotion | None:
        hold_promotion(session, self._backends, is_exclusive=True)
        return _promote(session, plan, by)

    def switch_rows(
        self, *, keep_going: Callable[[], None] = lambda: None, progress: Progress = no_progress, again: bool = True
    ) -> int:
        """Let the records of contents name their copies in the promoted storage, in pages; return the number.

        What names the former storage without a copy stays, until the job `mirror` has copied it. Without `again`, do
        nothing if a run since the promotion came to its end.
        """
        switch = RowSwitch(self._database, self._blobs, keep_going=keep_going, progress=progress)
        return switch.run(again=again)

    def return_rows(self, *, keep_going: Callable[[], None] = lambda: None) -> int:
        """Let the records of contents in the storage for second copies name their copies in the first one, if any.

        Return their number. After a recovery from that storage, it has the first copies.
        """
        if self._backends.mirror is None:
            return 0
        switch = RowSwitch(self._database, self._blobs, keep_going=keep_going, progress=no_progress)
        return switch.return_to(self._backends.current, self._backends.mirror)

    def _require_works(self, storage: str) -> None:
        try:
            self._presence.look(storage)
            self._backends.get(storage).check()
            with self._database.reading() as session:
                present = (BlobCopy.storage == storage, BlobCopy.state == CopyState.PRESENT.value)
                query = select(BlobCopy.key).where(*present).order_by(BlobCopy.stored_at.desc()).limit(NEWEST)
                keys = [key for key in session.scalars(query) if key is not None]
            lost = [key for key in keys if not is_there(self._backends.get(storage), key)]
        except StorageError as error:
            raise PromotionRefusedError(f"The storage {storage!r} does not work: {error.message}") from error
        if lost:
            raise PromotionRefusedError(
                f"The storage {storage!r} lacks {len(lost)} of the newest {len(keys)} copies that were made in it. Run "
                "`frepo storage:verify` to find out which copies are left"
            )

    def _works(self, storage: str) -> bool:
        try:
            self._presence.look(storage)
            self._backends.get(storage).check()
        except FrepoError:
            return False
        return True


def _promote(session: Session, plan: Plan, by: By) -> Promotion | None:
    now, before = utc_now(), read_promotion(session)
    if before is not None and (before.storage, before.former) == (plan.storage, plan.former):
        return None
    made = store_promotion(session, storage=plan.storage, former=plan.former, now=now)
    # The second storage and the first one change places, also for collections that name them.
    follows = or_(Collection.storage.is_(None), Collection.storage == plan.former)
    session.execute(update(Collection).where(Collection.mirror == plan.storage, follows).values(mirror=plan.former))
    session.execute(update(Collection).where(Collection.storage == plan.former).values(storage=None))
    data = {"storage": plan.storage, "former": plan.former, "epoch": made.epoch, "lacking": plan.loss.contents}
    record(session, NewEvent(kind=EventKind.STORAGE_PROMOTED, by=by, data=data))
    return made


def _lacks_copy(storage: str, former: str) -> tuple[ColumnElement[bool], ...]:
    copies = select(BlobCopy.id).where(
        BlobCopy.blob_id == Blob.id, BlobCopy.storage == storage, BlobCopy.state == CopyState.PRESENT.value
    )
    return Blob.storage == former, or_(~copies.exists(), Blob.id.in_(with_incomplete_chain(storage))), is_used()


def _count(session: Session, *conditions: ColumnElement[bool]) -> tuple[int, int]:
    number, size = session.execute(select(func.count(), func.sum(Blob.size)).where(*conditions)).one()
    return number, int(size or 0)


def _name_users(session: Session, *conditions: ColumnElement[bool]) -> list[str]:
    """Return what uses the blobs, the newest first: versions and plain files, then versions in the trash."""
    blobs = select(Blob.id).where(*conditions)
    files = (
        select(File.stored_name, Version.number, Collection.filename, Collection.id)
        .join(Version, Version.file_id == File.id, isouter=True)
        .join(Collection, Collection.id == Version.collection_id, isouter=True)
        .where(File.blob_id.in_(blobs))
        .order_by(File.id.desc())
        .limit(NAMED)
    )
    names = [
        f"version {number} of {filename} (collection {collection})" if collection else f"file {stored}"
        for stored, number, filename, collection in session.execute(files)
    ]
    trash = select(TrashEntry.number, TrashEntry.collection_id).where(TrashEntry.blob_id.in_(blobs))
    newest = trash.order_by(TrashEntry.id.desc()).limit(NAMED - len(names))
    return names + [
        f"version {number} of collection {collection}, in the trash" for number, collection in session.execute(newest)
    ]
