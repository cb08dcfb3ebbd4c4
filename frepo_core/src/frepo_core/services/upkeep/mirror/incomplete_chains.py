"""Second copies that are there, but cannot be decoded in their storage, because a base has no sound bytes there."""

from sqlalchemy import Select, select
from sqlalchemy.orm import aliased

from frepo_core.db.models import Blob, BlobCopy

from ...content.copies.states import CopyState


def with_incomplete_chain(storage: str) -> Select[int | None]:
    """Select the ids of the blobs whose copy in a storage needs a base, directly or not, that is damaged or missing."""
    base, blob, dependent = aliased(BlobCopy), aliased(Blob), aliased(BlobCopy)
    readable = (CopyState.PRESENT.value, CopyState.LEAVING.value)
    copies = select(base.id).where(
        base.digest == BlobCopy.base_digest, base.storage == storage, base.state.in_(readable)
    )
    blobs = select(blob.id).where(
        blob.digest == BlobCopy.base_digest, blob.storage == storage, blob.damaged_at.is_(None)
    )
    lacking = (
        select(BlobCopy.digest, BlobCopy.blob_id)
        .where(BlobCopy.storage == storage, BlobCopy.state == CopyState.PRESENT.value)
        .where(BlobCopy.base_digest.is_not(None))
        .where(~copies.correlate(BlobCopy).exists(), ~blobs.correlate(BlobCopy).exists())
        .cte("lacking", recursive=True)
    )
    above = select(dependent.digest, dependent.blob_id).where(
        dependent.storage == storage, dependent.state == CopyState.PRESENT.value
    )
    lacking = lacking.union(above.where(dependent.base_digest == lacking.c.digest))
    return select(lacking.c.blob_id)
