"""Lets the records of contents name their copies in a promoted storage, page by page, while the service runs."""

import logging
from collections.abc import Callable, Sequence
from functools import partial

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob, BlobCopy, File, Installation, TrashEntry

from ...content.blobs.failpoints import hit
from ...content.blobs.lifecycle import Blobs
from ...content.copies.states import CopyState
from ...content.storages.first_storage import Promotion, read_promotion
from ...events.blob_facts import blob_healed
from ...events.recording import record
from ..storage.progress import Progress, count_blobs
from .former_bases import find_base

log = logging.getLogger(__name__)

PAGE = 200
# The name of the value in the table `installation` with the epoch whose rows were switched.
_DONE = "first_storage.switched"


class RowSwitch:
    """One run. It can be stopped at any time and run again."""

    def __init__(self, database: Database, blobs: Blobs, *, keep_going: Callable[[], None], progress: Progress) -> None:
        self._database = database
        self._blobs = blobs
        self._keep_going = keep_going
        self._progress = progress

    def run(self, *, again: bool) -> int:
        """Switch all rows whose copies are present; return their number. See `Promotions.switch_rows`."""
        with self._database.reading() as session:
            promotion, done = read_promotion(session), session.get(Installation, _DONE)
        if promotion is None or (done is not None and done.value == str(promotion.epoch) and not again):
            return 0
        switched = self._switch_all(promotion, promotion.former, promotion.storage)
        self._database.write(lambda session: session.merge(Installation(name=_DONE, value=str(promotion.epoch))))
        return switched

    def return_to(self, storage: str, mirror: str) -> int:
        """Switch rows that name the storage for second copies, but have a copy in the first one; return their number.

        After a recovery from the storage for second copies, all contents are first copies there.
        """
        with self._database.reading() as session:
            promotion = read_promotion(session)
        return self._switch_all(promotion, mirror, storage)

    def _switch_all(self, promotion: Promotion | None, former: str, storage: str) -> int:
        """Switch from `former` to `storage`, unless another storage than that of `promotion` is promoted meanwhile."""
        total = count_blobs(self._database, Blob.storage == former)
        switched = after = 0
        while total and (page := self._read_page(former, storage, after)):
            self._keep_going()
            switch = partial(_switch, promotion=promotion, former=former, storage=storage, blob_ids=page)
            merged = self._database.write(switch)
            hit("rows_switched")
            self._blobs.collect(merged)
            switched, after = switched + len(page), page[-1]
            self._progress(done=switched, total=total, size=0)
        return switched

    def _read_page(self, former: str, storage: str, after: int) -> Sequence[int]:
        query = (
            select(Blob.id)
            .join(BlobCopy, BlobCopy.blob_id == Blob.id)
            .where(Blob.id > after, Blob.storage == former)
            .where(BlobCopy.storage == storage, BlobCopy.state == CopyState.PRESENT.value)
            .order_by(Blob.id)
            .limit(PAGE)
        )
        with self._database.reading() as session:
            return session.scalars(query).all()


def _switch(
    session: Session, *, promotion: Promotion | None, former: str, storage: str, blob_ids: Sequence[int]
) -> list[int]:
    """Switch a page of rows. Return the ids of blobs that nothing uses any more, because another one has the content.

    What was the first copy is a second one from now on. It is not known to be sound: the job `mirror` reads it, or
    copies the content again.
    """
    if read_promotion(session) != promotion:
        return []
    query = select(Blob, BlobCopy).join(BlobCopy, BlobCopy.blob_id == Blob.id)
    query = query.where(Blob.id.in_(blob_ids), Blob.storage == former)
    query = query.where(BlobCopy.storage == storage, BlobCopy.state == CopyState.PRESENT.value)
    found = [(blob, copy) for blob, copy in session.execute(query.order_by(Blob.id).with_for_update())]
    others = _find_same_contents(session, storage, [blob.digest for blob, _ in found])
    found = [(blob, copy) for blob, copy in found if blob.digest not in others or not others[blob.digest].damaged_at]
    _part_with_third_copies(session, former, [blob.id for blob, _ in found])
    merged = []
    for blob, copy in found:
        if (other := others.get(blob.digest)) is not None:
            for model in (File, TrashEntry):
                session.execute(update(model).where(model.blob_id == blob.id).values(blob_id=other.id))
            session.execute(update(Blob).where(Blob.base_id == blob.id).values(base_id=other.id))
            merged.append(blob.id)
        else:
            _exchange(session, blob, copy)
    return merged


def _exchange(session: Session, blob: Blob, copy: BlobCopy) -> None:
    """Let blob and copy change places, unless the copy needs a base that is nowhere."""
    new_base = None if copy.base_digest is None else find_base(session, copy, blob.storage)
    if copy.base_digest is not None and new_base is None:
        log.error("the content %s has no readable copy in %s: its base is missing there", blob.digest, copy.storage)
        return
    was_damaged, now = blob.damaged_at is not None, utc_now()
    blob.verified_at, blob.damaged_at = copy.verified_at, None
    _exchange_objects(session, blob, copy, new_base)
    copy.state = (CopyState.DAMAGED if was_damaged else CopyState.MISSING).value
    copy.stored_at = copy.verified_at = copy.error = None
    copy.attempts, copy.wanted_at, copy.next_try = 0, now, min(now, blob.created_at)
    if was_damaged:
        record(session, blob_healed(session, blob, by=None))


def _exchange_objects(session: Session, blob: Blob, copy: BlobCopy, new_base: int | None) -> None:
    """Let the rows change their places and encodings. A base has the same row before and after."""
    base = session.get(Blob, blob.base_id) if blob.base_id else None
    (blob.storage, blob.key), (copy.storage, copy.key) = (copy.storage, copy.key or ""), (blob.storage, blob.key)
    for name in ("encoding", "stored_size", "stored_digest"):
        ours, theirs = getattr(blob, name), getattr(copy, name)
        setattr(blob, name, theirs)
        setattr(copy, name, ours)
    blob.base_id, copy.base_digest = new_base, base.digest if base else None


def _find_same_contents(session: Session, storage: str, digests: Sequence[str]) -> dict[str, Blob]:
    """Return the blobs in the storage that have these digests: what was uploaded again since the promotion."""
    query = select(Blob).where(Blob.storage == storage, Blob.digest.in_(digests))
    return {blob.digest: blob for blob in session.scalars(query.with_for_update(read=True))}


def _part_with_third_copies(session: Session, storage: str, blob_ids: Sequence[int]) -> None:
    """Let copies leave that are in the storage of their blob itself."""
    query = select(BlobCopy).where(BlobCopy.blob_id.in_(blob_ids), BlobCopy.storage == storage)
    for copy in session.scalars(query.with_for_update()):
        if copy.key is None:
            session.delete(copy)
        else:
            copy.blob_id, copy.state, copy.delete_after = None, CopyState.LEAVING.value, utc_now()
    session.flush()
