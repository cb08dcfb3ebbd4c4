"""Uploads that can be repeated safely: the same Idempotency-Key and content get the first answer again."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Generic, TypeVar

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Blob, File, Upload
from frepo_core.domain.identity import Identity
from frepo_core.errors import KeyReusedError

from .facts import FileFacts

Added = TypeVar("Added")

REMEMBERED = timedelta(hours=24)
CLEARED_AT_ONCE = 100


@dataclass(frozen=True, kw_only=True)
class Repeat(Generic[Added]):
    """A key that the client chose for one upload, and how its answer is written down.

    `scope` is what the upload is for, so that one key may serve for two collections.
    """

    key: str = field(repr=False)
    scope: str
    write_down: Callable[[Added], Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Repeated:
    """The answer that an upload with the same key got."""

    answer: Mapping[str, Any]


def find_answer(session: Session, repeat: "Repeat[Any] | None", digest: str, by: Identity) -> Repeated | None:
    """Return the answer that this key got within a day. Raises `KeyReusedError` where the content was another.

    What was deleted since, or whose bytes are damaged, is no answer: the content is taken anew.
    """
    if repeat is None:
        return None
    row = session.get(Upload, _name(repeat, by))
    if row is None or row.created_at < utc_now() - REMEMBERED:
        return None
    if row.digest != digest:
        raise KeyReusedError("This Idempotency-Key was used for other content; choose a new key")
    damaged = select(File.id).join(Blob, Blob.id == File.blob_id).where(Blob.damaged_at.is_not(None))
    if session.scalar(damaged.where(File.id == row.file_id)):
        return None
    return Repeated(answer=row.answer)


def forget(session: Session, file_id: int) -> None:
    """Forget answers that tell of a file which somebody deletes. What is rotated out was kept as long as promised."""
    session.execute(delete(Upload).where(Upload.file_id == file_id))


def remember(
    session: Session, repeat: Repeat[Added] | None, digest: str, by: Identity, added: Added, file: FileFacts
) -> None:
    """Note the answer in the upload's own transaction; two uploads at once with one key are a conflict."""
    if repeat is None:
        return
    too_old = select(Upload.key).where(Upload.created_at < utc_now() - REMEMBERED).limit(CLEARED_AT_ONCE)
    session.execute(delete(Upload).where(Upload.key.in_(session.scalars(too_old).all())))
    name = _name(repeat, by)
    session.execute(delete(Upload).where(Upload.key == name))
    answer = dict(repeat.write_down(added))
    session.add(Upload(key=name, digest=digest, answer=answer, created_at=utc_now(), file_id=file.id))
    session.flush()


def _name(repeat: Repeat[Any], by: Identity) -> str:
    return hashlib.sha256(f"{by.token}\n{repeat.scope}\n{repeat.key}".encode()).hexdigest()
