"""Bases whose blobs were deleted, but of which the copy of another blob is still the difference.

Such a copy was not made again since its blob got another base. It may be the last one of its content.
"""

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Blob, BlobCopy

from ...content.chains.chain_places import needs_itself
from ...content.copies.states import CopyState

_UNKNOWN_TYPE = "application/octet-stream"


def find_base(session: Session, copy: BlobCopy, other_storage: str) -> int | None:
    """Return the id of the blob that the object of a copy needs, in the storage of the copy or in the other one.

    If its blob was deleted, the copy of that which is leaving becomes a blob, which only others use: the job `compact`
    deletes it when it has given them another base. None if there is no such copy.
    """
    wanted = (Blob.digest == copy.base_digest, Blob.storage.in_([copy.storage, other_storage]))
    query = select(Blob.id).where(*wanted).order_by(Blob.storage != copy.storage)
    found = session.scalar(query.limit(1))
    if found is None:
        return _take_leaving(session, copy, other_storage)
    is_copied = (BlobCopy.blob_id == found, BlobCopy.storage == copy.storage, BlobCopy.state == CopyState.PRESENT.value)
    is_there = select(Blob.id).where(Blob.id == found, Blob.storage == copy.storage)
    if session.scalar(is_there) is None and session.scalar(select(BlobCopy.id).where(*is_copied)) is None:
        # It stays in the other storage, where it must not need the content itself.
        return None if needs_itself(session, copy.digest, copy.base_digest, other_storage) else found
    return found


def _take_leaving(session: Session, copy: BlobCopy, other_storage: str) -> int | None:
    query = select(BlobCopy).where(BlobCopy.digest == copy.base_digest, BlobCopy.storage == copy.storage)
    leaving = session.scalar(query.where(BlobCopy.state == CopyState.LEAVING.value).limit(1).with_for_update())
    if leaving is None:
        return None
    base_id = None
    if leaving.base_digest is not None and (base_id := find_base(session, leaving, other_storage)) is None:
        return None
    blob = Blob(
        digest=leaving.digest,
        size=leaving.size,
        storage=leaving.storage,
        key=leaving.key,
        mime=_UNKNOWN_TYPE,
        created_at=utc_now(),
        verified_at=leaving.verified_at,
        encoding=leaving.encoding,
        stored_size=leaving.stored_size,
        stored_digest=leaving.stored_digest,
        base_id=base_id,
    )
    session.delete(leaving)
    session.add(blob)
    session.flush()
    return blob.id
