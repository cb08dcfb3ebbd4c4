"""Inserts the rows of files and tags."""

from collections.abc import Sequence

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Blob, File, Tag
from frepo_core.domain.naming import stored_name

_FILE = File.__table__
_TAKEN = select(_FILE.c.id).where(_FILE.c.stored_name == bindparam("name"))


def insert_file(
    session: Session,
    blob: Blob,
    *,
    name: str,
    kind: str,
    public: bool,
    password_hash: str | None,
    tags: Sequence[Tag] = (),
) -> File:
    """Insert a file that uses the blob, under the first free stored name."""
    row = File(
        stored_name=free_stored_name(session, blob.digest, name),
        requested_name=name,
        blob_id=blob.id,
        public=public,
        password_hash=password_hash,
        created_at=utc_now(),
        kind=kind,
        mime=blob.mime,
        tags=list(tags),
    )
    session.add(row)
    session.flush()
    return row


def free_stored_name(session: Session, digest: str, name: str) -> str:
    """Return the first stored name for this content and name that no file has."""
    attempt = 0
    while session.scalar(_TAKEN, {"name": stored_name(digest, name, attempt)}):
        attempt += 1
    return stored_name(digest, name, attempt)


def find_or_insert_tags(session: Session, names: Sequence[str]) -> list[Tag]:
    """Return the rows of the tags; insert missing ones. If another writer inserts the same tag, the write is retried."""
    if not names:
        return []
    known = {row.name: row for row in session.scalars(select(Tag).where(Tag.name.in_(names)))}
    for name in names:
        if name not in known:
            known[name] = Tag(name=name)
            session.add(known[name])
    session.flush()
    return [known[name] for name in names]
