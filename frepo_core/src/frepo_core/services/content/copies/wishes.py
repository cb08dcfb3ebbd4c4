"""In which storages a blob shall have second copies: where its collections say, or else where the service says."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Blob, Collection, DeletedCollection, File, Installation, TrashEntry, Version

from ..chains.dependents import find_all_dependents
from ..storages.backends import Backends
from .outbox import want_copies

# What the names of the values in the table `installation` begin with that name collections whose mirror was changed.
CHANGED = "mirror.changed."


@dataclass(kw_only=True)
class Wish:
    """The storages that shall have second copies of a blob.

    `keeps_others`: copies in other storages stay, because something uses the blob that has the mirror of the service.
    """

    storages: set[str] = field(default_factory=set)
    keeps_others: bool = False


def find_wishes(session: Session, backends: Backends, blob_ids: Sequence[int]) -> dict[int, Wish]:
    """Return the wishes for blobs that are used: those of plain files, versions and what is in the trash, together.

    Where a blob shall have a copy, its base shall have one, too.
    """
    wishes = defaultdict[int, Wish](Wish)
    above = find_all_dependents(session, blob_ids)
    for user_id, mirror in _choices(session, [*blob_ids, *above]):
        for blob_id in {user_id, *above.get(user_id, ())}.intersection(blob_ids):
            wish = wishes[blob_id]
            wish.keeps_others = wish.keeps_others or mirror is None
            if (storage := backends.mirror_for(mirror)) is not None:
                wish.storages.add(storage)
    for blob_id in blob_ids:  # only other blobs use it
        if blob_id not in wishes:
            wishes[blob_id] = Wish(storages={backends.mirror} if backends.mirror else set(), keeps_others=True)
    for blob_id, home in session.execute(select(Blob.id, Blob.storage).where(Blob.id.in_(blob_ids))):
        if wishes[blob_id].storages == {home}:  # as after a recovery from it: the other copy is in the first storage
            wishes[blob_id].storages.add(backends.current)
    return wishes


def _choices(session: Session, blob_ids: Sequence[int]) -> Iterator[tuple[int, str | None]]:
    """Yield the mirror of each collection that uses a blob, None for a plain file and for the service's."""
    of_files = select(File.blob_id, Collection.mirror).outerjoin(Version, Version.file_id == File.id)
    of_files = of_files.outerjoin(Collection, Collection.id == Version.collection_id)
    for blob_id, mirror in session.execute(of_files.where(File.blob_id.in_(blob_ids)).distinct()):
        yield blob_id, mirror
    incarnation = func.coalesce(Collection.incarnation, Collection.id)
    is_of = and_(Collection.id == TrashEntry.collection_id, incarnation == TrashEntry.incarnation)
    trash = select(TrashEntry.blob_id, Collection.id, Collection.mirror, DeletedCollection.settings)
    trash = trash.outerjoin(Collection, is_of)
    trash = trash.outerjoin(DeletedCollection, DeletedCollection.incarnation == TrashEntry.incarnation)
    for blob_id, collection_id, mirror, settings in session.execute(trash.where(TrashEntry.blob_id.in_(blob_ids))):
        yield blob_id, mirror if collection_id or not settings else settings.get("mirror")


def want_all(session: Session, backends: Backends, blob_ids: Sequence[int]) -> int:
    """Insert the rows for the copies that blobs shall have and lack; return their number.

    Call it in the transaction that begins to use the blobs, after the rows that use them.
    """
    wanted = defaultdict[str, list[int]](list)
    for blob_id, wish in find_wishes(session, backends, blob_ids).items() if blob_ids else ():
        for storage in wish.storages:
            wanted[storage].append(blob_id)
    return sum(want_copies(session, ids, storage) for storage, ids in wanted.items())


def find_locked(session: Session, blob_ids: Sequence[int]) -> set[int]:
    """Return those of the blobs that have the bytes of a locked version: their copies stay."""
    versions = select(File.blob_id).join(Version, Version.file_id == File.id)
    versions = versions.where(File.blob_id.in_(blob_ids), Version.locked_until > utc_now())
    trash = select(TrashEntry.blob_id).where(TrashEntry.blob_id.in_(blob_ids), TrashEntry.locked_until > utc_now())
    return {*session.scalars(versions), *session.scalars(trash)}


def note_change(session: Session, collection_id: str) -> None:
    """Let the job `mirror` compare what the collection has with its copies, because its mirror was changed."""
    session.merge(Installation(name=CHANGED + collection_id, value=utc_now().isoformat()))
