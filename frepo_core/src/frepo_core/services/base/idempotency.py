"""Idempotent uploads: a repeated upload with the same Idempotency-Key and content gets the first answer again."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import timedelta
from typing import Any, Generic, TypeVar

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Content, File, Upload, Version
from frepo_core.domain.identity import Identity
from frepo_core.domain.structs import struct
from frepo_core.errors import IdempotencyConflictError

from .records import BlobRecord, FileRecord

Added = TypeVar("Added")

REMEMBERED = timedelta(days=14)
CLEARED_AT_ONCE = 100


@struct
class IdempotentUpload(Generic[Added]):
    """The Idempotency-Key of one upload, and how its answer is recorded.

    `scope` names the target of the upload, so that a client may use one key for two collections. `serialize` makes the
    answer to record. Versions before migration 0005 recorded it under `earlier_scope`: such an answer is valid only
    while its file is stored, because a collection with the same id may have been created since.
    """

    key: str = field(repr=False)
    scope: str
    serialize: Callable[[Added], Mapping[str, Any]]
    earlier_scope: str | None = None


@struct
class RecordedAnswer:
    """The recorded answer to an earlier upload with the same key, and the SHA-256 of its content in hex.

    `is_removed` says that what it names was deleted or evicted since. `is_damaged` says that its bytes are damaged:
    store the content again, and the answer is right again.
    """

    answer: Mapping[str, Any]
    digest: str
    is_removed: bool = False
    is_damaged: bool = False


def find_recorded_answer(
    session: Session, idempotency: "IdempotentUpload[Any]", digest: str, by: Identity
) -> RecordedAnswer | None:
    """Return the answer that was recorded for this key during the last 14 days, or None.

    It outlives what it names: an upload that is repeated is not stored twice, even if its file or version was removed.
    Raises `IdempotencyConflictError` if the key was used for other content.
    """
    row, blob = _find_row(session, idempotency, by)
    if row is None or row.created_at < utc_now() - REMEMBERED:
        return None
    if row.digest != digest:
        raise IdempotencyConflictError("This Idempotency-Key was used for other content; choose a new key")
    is_damaged = blob is not None and BlobRecord.of(blob).is_damaged
    return RecordedAnswer(answer=row.answer, digest=digest, is_removed=blob is None, is_damaged=is_damaged)


def _find_row(
    session: Session, idempotency: "IdempotentUpload[Any]", by: Identity
) -> tuple[Upload | None, Content | None]:
    """Return the row with the answer, and the blob of what it names. One statement finds the names of both scopes."""
    scopes = [scope for scope in (idempotency.scope, idempotency.earlier_scope) if scope is not None]
    names = [_name(idempotency, scope, by) for scope in scopes]
    rows = {row.key: row for row in session.scalars(select(Upload).where(Upload.key.in_(names)))}
    if row := rows.get(names[0]):
        return row, _find_blob(session, row)
    earlier = rows.get(names[-1])
    blob = _find_blob(session, earlier) if earlier else None
    return (earlier, blob) if blob else (None, None)


def _find_blob(session: Session, row: Upload) -> Content | None:
    """Return the blob of what the answer names, or None if that was removed or has other content now."""
    query = select(Content).join(File, File.content_id == Content.id).where(Content.digest == row.digest)
    if row.version_id is not None:
        # A version that was restored from the trash has another file.
        return session.scalar(query.join(Version, Version.file_id == File.id).where(Version.id == row.version_id))
    return session.scalar(query.where(File.id == (row.file_id or _file_id(row.answer))))


def _file_id(answer: Mapping[str, Any]) -> int:
    """Return the id of the file in an answer of the first API. Rows from before migration 0005 have it nowhere else."""
    file = answer["version"]["file"] if "version" in answer else answer
    return int(file["id"])


def record_answer(
    session: Session,
    idempotency: IdempotentUpload[Added],
    digest: str,
    by: Identity,
    added: Added,
    file: FileRecord,
    version_id: str | None = None,
) -> None:
    """Record the answer in the transaction of the upload. Two concurrent uploads with the same key conflict.

    Only answers that are too old are deleted: one that another upload has committed meanwhile must make this one fail,
    so that it is tried again and finds that answer.
    """
    name, answer, now = _name(idempotency, idempotency.scope, by), dict(idempotency.serialize(added)), utc_now()
    is_too_old = Upload.created_at < now - REMEMBERED
    too_old = select(Upload.key).where(is_too_old).limit(CLEARED_AT_ONCE)
    session.execute(delete(Upload).where(Upload.key.in_([*session.scalars(too_old), name]), is_too_old))
    values = {"digest": digest, "answer": answer, "created_at": now, "file_id": file.id, "version_id": version_id}
    session.add(Upload(key=name, **values))
    session.flush()


def _name(idempotency: IdempotentUpload[Any], scope: str, by: Identity) -> str:
    """Return the primary key of the row with the answer. A token and those that replaced it are one client."""
    return hashlib.sha256(f"{by.client}\n{scope}\n{idempotency.key}".encode()).hexdigest()
