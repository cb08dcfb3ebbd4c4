"""Uploads that can be repeated safely: the same Idempotency-Key and content get the first answer again."""

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
    """A key that the client chose for one upload, and how its answer is written down.

    `scopes` are names of what the upload is for, so that one key may serve for two collections. The first one is
    today's, the others are those of earlier versions of frepo: an answer is found, and kept, under each of them, so
    that processes of two versions answer alike during an upgrade. `file_id` reads the file's id from an answer.
    """

    key: str = field(repr=False)
    scopes: Sequence[str]
    serialize: Callable[[Added], Mapping[str, Any]]
    file_id: Callable[[Mapping[str, Any]], int]


@dataclass(frozen=True, kw_only=True)
class RecordedAnswer:
    """The answer that an upload with the same key got, as it was written down, and its content's SHA-256 in hex."""

    answer: Mapping[str, Any]
    digest: str


def find_recorded_answer(
    session: Session, idempotency: "IdempotentUpload[Any] | None", digest: str, by: Identity
) -> RecordedAnswer | None:
    """Return the answer that this key got within a day. Raises `IdempotencyConflictError` if it was for other content.

    An answer counts only while the file that it names is there, undamaged and with the digest of the upload.
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
    # Rows of the first version of this code have no `file_id`; a process of it may still write some.
    file_id = idempotency.file_id(row.answer) if row.file_id is None else row.file_id
    query = select(File.id).join(Blob, Blob.id == File.blob_id)
    sound = query.where(File.id == file_id, Blob.digest == row.digest, Blob.damaged_at.is_(None))
    return session.scalar(sound) is not None


def delete_answers(session: Session, file_id: int) -> None:
    """Delete the answers that name a file which is deleted, so that its keys are free again."""
    session.execute(delete(Upload).where(Upload.file_id == file_id))


def record_answer(
    session: Session,
    idempotency: IdempotentUpload[Added] | None,
    digest: str,
    by: Identity,
    added: Added,
    file: FileRecord,
) -> None:
    """Note the answer in the upload's own transaction; two uploads at once with one key are a conflict."""
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
    """Return the keys of the rows that may hold the answer."""
    if idempotency is None:
        return []
    return [
        hashlib.sha256(f"{by.token}\n{scope}\n{idempotency.key}".encode()).hexdigest() for scope in idempotency.scopes
    ]
