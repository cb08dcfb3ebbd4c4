"""Finds chains of objects in one storage that would lead back to where they begin.

First copies never do: the transaction that switches them sees to it. But two contents may change places, so that the
newer one needs the older one. A second copy that was not made again since is still the other way round.
"""

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db.models import Blob, BlobCopy

from ..copies.states import CopyState
from .chain_places import MOST_LEVELS

_READABLE = (CopyState.PRESENT.value, CopyState.LEAVING.value)


def needs_itself(session: Session, digest: str, base_digest: str | None, storage: str) -> bool:
    """Return whether the base of a content needs that content, as the base is stored in this storage now."""
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
