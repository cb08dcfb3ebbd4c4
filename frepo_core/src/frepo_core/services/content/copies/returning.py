"""Second copies that are leaving, and bytes that were replaced, come back, if a recovery needs their bytes again."""

from collections.abc import Collection

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from frepo_core.db.models import BlobCopy, ReplacedObject

from .states import CopyState


def take_over(session: Session, storage: str, keys: Collection[str]) -> set[str]:
    """Let a blob have the bytes of copies that are leaving, or that were replaced and would be deleted.

    The rows that say so are deleted in the session's transaction. Return the keys that it cannot have: they are
    those of other copies, or are being deleted.
    """
    rows = session.scalars(
        select(BlobCopy).where(BlobCopy.storage == storage, BlobCopy.key.in_(keys)).with_for_update()
    ).all()
    replaced = (ReplacedObject.storage == storage, ReplacedObject.key.in_(keys))
    session.execute(delete(ReplacedObject).where(*replaced))
    leaving = [row.id for row in rows if row.state == CopyState.LEAVING]
    session.execute(delete(BlobCopy).where(BlobCopy.id.in_(leaving)))
    return {str(row.key) for row in rows if row.state != CopyState.LEAVING}
