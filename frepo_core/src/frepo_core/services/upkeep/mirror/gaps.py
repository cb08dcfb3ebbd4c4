"""Compares blobs with their second copies: once a day, and when the mirror of the service or a collection was changed.

What lacks a copy gets a row for one. A copy that no collection wants any more begins to leave.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, func, or_, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob, BlobCopy, Collection, File, Installation, TrashEntry, Version

from ...content.blobs.blob_use import is_used
from ...content.copies.outbox import want_copies
from ...content.copies.states import CopyState
from ...content.copies.wishes import CHANGED, find_locked, find_wishes, want_all
from ...content.storages.backends import Backends

PAGE = 500
AGAIN_AFTER = timedelta(hours=24)
# What the name of the value in the table `installation` begins with that says when the blobs were compared.
PREFIX = "mirror.compared."


def _name(backends: Backends) -> str:
    return (PREFIX + (backends.mirror or ""))[:64]


def read_compared_at(session: Session, backends: Backends) -> datetime | None:
    """Return when all blobs were compared with their copies the last time (UTC, aware), None for never."""
    found = session.get(Installation, _name(backends))
    return datetime.fromisoformat(found.value) if found else None


def is_compared(session: Session, backends: Backends) -> bool:
    """Return whether it is known which contents lack copies: not before the first comparison, as after a recovery.

    Nor between a change of a collection's mirror and the comparison after it. Without contents, nothing lacks a copy.
    """
    changed = select(Installation.name).where(Installation.name.startswith(CHANGED, autoescape=True))
    if read_compared_at(session, backends) is not None and session.scalar(changed.limit(1)) is None:
        return True
    return session.scalar(select(Blob.id).limit(1)) is None


def compare_again(database: Database) -> None:
    """Let the next run compare all blobs with their copies, whenever the last one did."""
    database.execute(delete(Installation).where(Installation.name.startswith(PREFIX, autoescape=True)))


@dataclass(kw_only=True)
class Compared:
    """The number of copies that were missing, and of those that begin to leave."""

    wanted: int = 0
    leaving: int = 0


class Gaps:
    """Compares blobs with their copies, page by page. What is unwanted stays for the time `delay`."""

    def __init__(
        self, database: Database, backends: Backends, *, delay: timedelta, keep_going: Callable[[], None]
    ) -> None:
        self._database = database
        self._backends = backends
        self._delay = delay
        self._keep_going = keep_going

    def compare(self) -> Compared:
        """Compare what collections have whose mirror was changed; once in 24 hours, compare all."""
        done = Compared()
        for collection_id, at in self._changed():
            self._compare(self._pages_of(collection_id), done)
            noted = Installation.name == CHANGED + collection_id
            self._database.execute(delete(Installation).where(noted, Installation.value == at))
        now, name = utc_now(), _name(self._backends)
        with self._database.reading() as session:
            last = session.scalar(select(Installation.value).where(Installation.name == name))
            is_needed = self._backends.mirror or session.scalar(
                select(Collection.id).where(Collection.mirror.is_not(None)).limit(1)
            )
        if last is None or abs(now - datetime.fromisoformat(last)) >= AGAIN_AFTER:
            if is_needed:
                self._compare(self._pages(is_used()), done)
            self._database.write(lambda session: session.merge(Installation(name=name, value=now.isoformat())))
        return done

    def fill(self, storage: str) -> int:
        """Insert the rows that are missing for one storage; return their number.

        If nothing names the storage as its mirror, that is for all blobs with the mirror of the service.
        """
        with self._database.reading() as session:
            is_named = session.scalar(select(Collection.id).where(Collection.mirror == storage).limit(1))
        is_other, filled = not is_named and storage != self._backends.mirror, 0
        for ids in self._pages(is_used()):
            with self._database.reading() as session:
                wishes = find_wishes(session, self._backends, ids)
            wanted = [id_ for id_ in ids if storage in wishes[id_].storages or (is_other and wishes[id_].keeps_others)]
            filled += self._database.write(lambda session, wanted=wanted: want_copies(session, wanted, storage))  # type: ignore[misc]
        return filled

    def _changed(self) -> Sequence[tuple[str, str]]:
        """Return the ids of the collections whose mirror was changed, and the time of the change."""
        with self._database.reading() as session:
            rows = select(Installation).where(Installation.name.startswith(CHANGED, autoescape=True))
            found = session.scalars(rows.order_by(Installation.value)).all()
        return [(row.name.removeprefix(CHANGED), row.value) for row in found]

    def _pages_of(self, collection_id: str) -> Iterator[Sequence[int]]:
        versions = select(File.blob_id).join(Version, Version.file_id == File.id)
        incarnation = select(func.coalesce(Collection.incarnation, Collection.id)).where(Collection.id == collection_id)
        trash = select(TrashEntry.blob_id).where(TrashEntry.incarnation.in_(incarnation))
        return self._pages(or_(Blob.id.in_(versions.where(Version.collection_id == collection_id)), Blob.id.in_(trash)))

    def _pages(self, condition: ColumnElement[bool]) -> Iterator[Sequence[int]]:
        after = 0
        while True:
            self._keep_going()
            query = select(Blob.id).where(Blob.id > after, condition).order_by(Blob.id).limit(PAGE)
            with self._database.reading() as session:
                ids = session.scalars(query).all()
            if not ids:
                return
            yield ids
            after = ids[-1]

    def _compare(self, pages: Iterator[Sequence[int]], done: Compared) -> None:
        for ids in pages:
            with self._database.reading() as session:
                lacking, surplus = _differences(session, self._backends, ids)
            if lacking:
                done.wanted += self._database.write(
                    lambda session, lacking=lacking: want_all(session, self._backends, lacking)  # type: ignore[misc]
                )
            if surplus:
                done.leaving += self._database.write(lambda session, surplus=surplus: self._release(session, surplus))  # type: ignore[misc]

    def _release(self, session: Session, blob_ids: Sequence[int]) -> int:
        """Let copies begin to leave that nothing wants, if that is still so: nobody begins to use a locked blob."""
        session.execute(select(Blob.id).where(Blob.id.in_(blob_ids)).order_by(Blob.id).with_for_update())
        copy_ids = _differences(session, self._backends, blob_ids)[1].values()
        ids = [copy_id for of_blob in copy_ids for copy_id in of_blob]
        for row in session.scalars(select(BlobCopy).where(BlobCopy.id.in_(ids)).with_for_update()):
            if row.key is None:
                session.delete(row)
            else:
                row.blob_id, row.state = None, CopyState.LEAVING.value
                row.delete_after = utc_now() + self._delay
        return len(ids)


def _differences(
    session: Session, backends: Backends, blob_ids: Sequence[int]
) -> tuple[list[int], dict[int, list[int]]]:
    """Return which blobs lack copies, and the ids of the copies that nothing wants, by the id of their blob.

    A copy is wanted until those that shall be there instead are present, and while a locked version has its bytes.
    """
    wishes = find_wishes(session, backends, blob_ids)
    homes = {id_: home for id_, home in session.execute(select(Blob.id, Blob.storage).where(Blob.id.in_(blob_ids)))}
    copies = select(BlobCopy.blob_id, BlobCopy.storage, BlobCopy.state, BlobCopy.id)
    found = defaultdict[int, dict[str, tuple[str, int]]](dict)
    for blob_id, storage, state, id_ in session.execute(copies.where(BlobCopy.blob_id.in_(blob_ids))):
        found[blob_id or 0][storage] = state, id_
    lacking, surplus = [], dict[int, list[int]]()
    for blob_id, home in homes.items():
        wanted, has = wishes[blob_id].storages - {home}, found[blob_id]
        if wanted - set(has):
            lacking.append(blob_id)
        elif not wishes[blob_id].keeps_others and all(has[name][0] == CopyState.PRESENT for name in wanted):
            surplus[blob_id] = [id_ for storage, (_, id_) in has.items() if storage not in wanted]
    surplus = {blob_id: ids for blob_id, ids in surplus.items() if ids}
    for blob_id in find_locked(session, list(surplus)) if surplus else ():
        del surplus[blob_id]
    return lacking, surplus
