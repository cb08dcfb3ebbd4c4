"""Idempotent uploads: a repeated upload with the same Idempotency-Key and content gets the first answer again."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Generic, TypeVar

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Blob, File, Upload
from frepo_core.domain.identity import Identity
from frepo_core.errors import IdempotencyConflictError

from .records import FileRecord

Added = TypeVar("Added")

REMEMBERED = timedelta(hours=24)
CLEARED_AT_ONCE = 100


@dataclass(frozen=True, kw_only=True)
class IdempotentUpload(Generic[Added]):
    """The Idempotency-Key of one upload, and how its answer is recorded.

    `scopes` name the target of the upload, so that a client may use one key for two collections. The first scope is
    the current one, the others are those of earlier versions of frepo. Answers are recorded and found under all of
    them, so that processes of two versions agree during an upgrade.
    `serialize` makes the answer to record, and `file_id` reads the file's id from such an answer.
    """

    key: str = field(repr=False)
    scopes: Sequence[str]
    serialize: Callable[[Added], Mapping[str, Any]]
    file_id: Callable[[Mapping[str, Any]], int]


@dataclass(frozen=True, kw_only=True)
class RecordedAnswer:
    """The recorded answer to an earlier upload with the same key, and the SHA-256 of its content in hex."""

    answer: Mapping[str, Any]
    digest: str


def find_recorded_answer(
    session: Session, idempotency: "IdempotentUpload[Any] | None", digest: str, by: Identity
) -> RecordedAnswer | None:
    """Return the answer that was recorded for this key during the last 24 hours, or None.

    An answer is valid only while its file exists, undamaged and with the digest of that upload.
    Raises `IdempotencyConflictError` if the key was used for other content.
    """
    for name in _names(idempotency, by):
        row = session.get(Upload, name)
        if idempotency is None or row is None or row.created_at < utc_now() - REMEMBERED:
            continue
        if not _is_stored(session, row, idempotency):
            continue
        if row.digest != digest:
            raise IdempotencyConflictError("This Idempotency-Key was used for other content; choose a new key")
        return RecordedAnswer(answer=row.answer, digest=digest)
    return None


def _is_stored(session: Session, row: Upload, idempotency: "IdempotentUpload[Any]") -> bool:
    # Rows from before migration 0005 have no `file_id`, and a process of that version may still write some.
    file_id = idempotency.file_id(row.answer) if row.file_id is None else row.file_id
    query = select(File.id).join(Blob, Blob.id == File.blob_id)
    sound = query.where(File.id == file_id, Blob.digest == row.digest, Blob.damaged_at.is_(None))
    return session.scalar(sound) is not None


def delete_answers(session: Session, *file_ids: int) -> None:
    """Delete the answers that name these files, so that their keys can be used again. Call it when deleting the files."""
    session.execute(delete(Upload).where(Upload.file_id.in_(file_ids)))


def record_answer(
    session: Session,
    idempotency: IdempotentUpload[Added] | None,
    digest: str,
    by: Identity,
    added: Added,
    file: FileRecord,
) -> None:
    """Record the answer in the transaction of the upload. Two concurrent uploads with the same key conflict."""
    if idempotency is None:
        return
    too_old = select(Upload.key).where(Upload.created_at < utc_now() - REMEMBERED).limit(CLEARED_AT_ONCE)
    session.execute(delete(Upload).where(Upload.key.in_(session.scalars(too_old).all())))
    names, answer = _names(idempotency, by), dict(idempotency.serialize(added))
    session.execute(delete(Upload).where(Upload.key.in_(names)))
    for name in names:
        session.add(Upload(key=name, digest=digest, answer=answer, created_at=utc_now(), file_id=file.id))
    session.flush()


def _names(idempotency: IdempotentUpload[Any] | None, by: Identity) -> list[str]:
    """Return the primary keys of the rows that may contain the answer."""
    if idempotency is None:
        return []
    return [
        hashlib.sha256(f"{by.token}\n{scope}\n{idempotency.key}".encode()).hexdigest() for scope in idempotency.scopes
    ]
