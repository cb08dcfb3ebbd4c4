"""Finds the objects of a content in all storages: first copies and second ones, with their encodings."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db.models import Blob, BlobCopy

from ...base.records import BlobRecord
from ..copies.states import CopyState

RAW = "raw"
# Encodings are made less deep than this. It ends a circle, which the transaction that switches blobs prevents.
MOST_LEVELS = 12
_READABLE = (CopyState.PRESENT.value, CopyState.LEAVING.value)


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a copy of a content is. `is_first` says whether it is that of the blob's row, and not a second copy.

    `encoding` and `size` (bytes) are those of the object there, `content_size` is that of the content.
    """

    storage: str
    key: str
    is_first: bool
    encoding: str
    size: int
    content_size: int


def first_place(blob: BlobRecord) -> Place:
    """Return the place of the first copy."""
    return Place(
        storage=blob.storage,
        key=blob.key,
        is_first=True,
        encoding=blob.encoding,
        size=blob.object_size,
        content_size=blob.size,
    )


def find_places(session: Session, digest: str, storage: str) -> Sequence[Place]:
    """Return all copies of a content, those in the given storage first.

    The last ones are known to be damaged, or are leaving, because the blob was deleted: the copy of another one that
    was not made again since may still need them.
    """
    blobs = select(Blob).where(Blob.digest == digest)
    copies = select(BlobCopy).where(BlobCopy.digest == digest, BlobCopy.state.in_(_READABLE))
    first = [(row.damaged_at is not None, place_of(row)) for row in session.scalars(blobs)]
    second = [(row.state == CopyState.LEAVING, place_of(row)) for row in session.scalars(copies)]
    found = sorted(first + second, key=lambda one: (one[0], one[1].storage != storage))
    return [place for _, place in found]


def place_of(row: Blob | BlobCopy) -> Place:
    """Return where a first or second copy is. A second one must have a key."""
    assert row.key is not None
    return Place(
        storage=row.storage,
        key=row.key,
        is_first=isinstance(row, Blob),
        encoding=row.encoding,
        size=row.object_size,
        content_size=row.size,
    )


def needs_itself(session: Session, digest: str, base_digest: str | None, storage: str) -> bool:
    """Return whether the base of a content needs that content, as the base is stored in this storage now.

    First copies never do: the transaction that switches them sees to it. But two contents may change places, so that
    the newer one needs the older one. A second copy that was not made again since is still the other way round.
    """
    for _ in range(MOST_LEVELS):
        if base_digest is None:
            return False
        if base_digest == digest:
            return True
        base_digest = _find_base(session, base_digest, storage)
    return True


def _find_base(session: Session, digest: str, storage: str) -> str | None:
    """Return the base of the object of a content in a storage; None if it has none, or is not there."""
    blob = session.scalar(select(Blob).where(Blob.digest == digest, Blob.storage == storage))
    if blob is not None:
        return session.scalar(select(Blob.digest).where(Blob.id == blob.base_id)) if blob.base_id else None
    copies = select(BlobCopy.base_digest).where(BlobCopy.digest == digest, BlobCopy.storage == storage)
    return session.scalar(copies.where(BlobCopy.state.in_(_READABLE)).order_by(BlobCopy.state.desc()).limit(1))
