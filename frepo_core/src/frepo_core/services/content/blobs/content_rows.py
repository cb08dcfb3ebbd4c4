"""The queries and values with which an upload finds and inserts its content. Each is built once."""

import hashlib
from collections.abc import Sequence
from typing import Any

from sqlalchemy import and_, bindparam, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Content as ContentRow
from frepo_core.db.models import StoredObject
from frepo_core.db.row_inserts import insert_of
from frepo_core.errors import StorageUnavailable
from frepo_core.plugins import StorageBackend

from ..ingest import CHUNK, Content
from ..objects.gate import without_place
from ..objects.states import CURRENT
from ..objects.uses import is_used

_CONTENT_ROW = ContentRow.__table__
_OBJECT = StoredObject.__table__
LOCATIONS = (
    select(
        _OBJECT.c.id,
        _OBJECT.c.storage,
        _OBJECT.c.key,
        _OBJECT.c.state,
        _OBJECT.c.slot,
        _OBJECT.c.size,
        _OBJECT.c.stored_size,
        _OBJECT.c.encoding,
        _OBJECT.c.base_digest,
        is_used().label("is_used"),
    )
    .select_from(_OBJECT.outerjoin(_CONTENT_ROW, _CONTENT_ROW.c.id == _OBJECT.c.content_id))
    .where(_OBJECT.c.digest == bindparam("digest"))
)
INSERT = insert_of(ContentRow)
_CONTENT = select(ContentRow).where(ContentRow.digest == bindparam("digest")).options(without_place())
_IS_CURRENT = and_(StoredObject.content_id == ContentRow.id, StoredObject.slot == CURRENT)
_ROWS = _CONTENT.join(StoredObject, _IS_CURRENT).add_columns(StoredObject)
# To use the content as it is, a shared lock is enough. With exclusive ones, two uploads that each evict the content of
# the other would wait for each other: a row of the trash locks its content, too. The objects are locked with it: what
# is joined to a row that was waited for, PostgreSQL reads as it was before, and that may be doomed meanwhile.
_ROWS_TO_USE = _ROWS.with_for_update(read=True)
_ROWS_TO_REPLACE = _ROWS.with_for_update()
_CONTENT_TO_REPLACE = _CONTENT.with_for_update()


def lock_rows(session: Session, digest: str, *, is_stored: bool) -> tuple[ContentRow | None, Sequence[StoredObject]]:
    """Return the row of a content and its current objects, and lock both: exclusively if an object was stored."""
    parameters = {"digest": digest}
    rows = session.execute(_ROWS_TO_REPLACE if is_stored else _ROWS_TO_USE, parameters).all()
    if rows:
        return rows[0][0], [row for _, row in rows]
    content = session.scalar(_CONTENT_TO_REPLACE, parameters)
    if content is None:
        return None, ()
    current = (StoredObject.content_id == content.id, StoredObject.slot == CURRENT)
    return content, session.scalars(select(StoredObject).where(*current).with_for_update()).all()


def content_values(content: Content) -> dict[str, Any]:
    """Return the columns of a new content."""
    return {"digest": content.digest, "checksum": content.checksum, "size": content.size, "mime": content.mime}


def require_digest(backend: StorageBackend, key: str, digest: str) -> None:
    """Read what was stored. Raises `StorageUnavailable` if its SHA-256 (hex) is another one."""
    sha256 = hashlib.sha256()
    with backend.open(key) as stored:
        while chunk := stored.read(CHUNK):
            sha256.update(chunk)
    if sha256.hexdigest() != digest:
        raise StorageUnavailable("The storage kept other bytes than it was given")
