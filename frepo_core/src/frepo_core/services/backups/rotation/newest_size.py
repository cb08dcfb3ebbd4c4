"""The size of the newest version of a collection, with which guards and limits compare what is uploaded next."""

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Content, File, Version

_IS_COUNTED = Version.is_counted


def find_newest_size(session: Session, collection_id: str, *conditions: ColumnElement[bool]) -> int | None:
    """Return the size in bytes of the newest version that meets the conditions and is counted, or None."""
    query = select(Content.size).join(File, File.content_id == Content.id).join(Version, Version.file_id == File.id)
    counted = query.where(Version.collection_id == collection_id, _IS_COUNTED, *conditions)
    return session.scalar(counted.order_by(Version.number.desc()).limit(1))
