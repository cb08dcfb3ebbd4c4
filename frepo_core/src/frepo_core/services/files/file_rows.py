"""Inserts the rows of files and tags, and says which do not exist."""

import secrets
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, TypeAlias

from sqlalchemy import bindparam, insert, select
from sqlalchemy.orm import Session

from frepo_core.db.models import File, Tag, file_tag
from frepo_core.db.row_inserts import insert_of, insert_row, insert_rows
from frepo_core.domain.naming import stored_name
from frepo_core.errors import NotFoundError

from ..base.records import BlobRecord, FileRecord

# Called with a locked file before a change; what it raises prevents the change.
FilePrecondition: TypeAlias = Callable[[FileRecord], None] | None
STORED_NAME = "The name is the stored one, which begins with digits of the SHA-256: `frepo file:list` shows it"
# So many names follow from the content and its name; of others, the digits in front are random.
FIRST_NAMES = 4
_FILE = File.__table__
_INSERT, _INSERT_TAGS = insert_of(File), insert(file_tag)
_TAKEN = select(_FILE.c.id).where(_FILE.c.stored_name == bindparam("name"))


def insert_file(
    session: Session,
    blob: BlobRecord,
    *,
    name: str,
    kind: str,
    public: bool,
    password_hash: str | None,
    at: datetime,
    tags: Sequence[Tag] = (),
) -> FileRecord:
    """Insert a file that uses the blob, under a free stored name. `at` is its time (aware).

    The first name of a new content is hardly ever taken, so it is not looked up. If it is, the unique index refuses it,
    and the transaction is tried again.
    """
    values: dict[str, Any] = {
        "stored_name": stored_name(blob.digest, name) if blob.is_new else free_stored_name(session, blob.digest, name),
        "requested_name": name,
        "public": public,
        "password_hash": password_hash,
        "created_at": at,
    }
    names = tuple(tag.name for tag in tags)
    file_id = insert_row(session, _INSERT, {**values, "content_id": blob.id, "kind": kind, "mime": blob.mime})
    if tags:
        insert_rows(session, _INSERT_TAGS, [{"file_id": file_id, "tag_id": tag.id} for tag in tags])
    return FileRecord(id=file_id, is_version=kind == "version", blob=blob, tags=names, **values)


def free_stored_name(session: Session, digest: str, name: str) -> str:
    """Return a stored name for this content and name that no file has.

    A fleet may send one content under one name thousands of times: after the first few, a random one is tried.
    """
    connection = session.connection()
    attempts = chain(range(FIRST_NAMES), iter(lambda: secrets.randbits(62), None))
    names = (stored_name(digest, name, attempt) for attempt in attempts)
    return next(one for one in names if not connection.scalar(_TAKEN, {"name": one}))


def find_or_insert_tags(session: Session, names: Sequence[str]) -> list[Tag]:
    """Return the rows of the tags; insert missing ones. If another writer inserts one, the write is retried."""
    if not names:
        return []
    known = {row.name: row for row in session.scalars(select(Tag).where(Tag.name.in_(names)))}
    for name in names:
        if name not in known:
            known[name] = Tag(name=name)
            session.add(known[name])
    session.flush()
    return [known[name] for name in names]


def file_not_found(name: str) -> NotFoundError:
    """Return the error for a stored name that no file has."""
    return NotFoundError(NotFoundError.FILE, sentence=f"There is no file {name!r}", remedy=STORED_NAME)
