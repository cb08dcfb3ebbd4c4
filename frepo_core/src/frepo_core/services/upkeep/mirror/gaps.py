"""Finds blobs that should have a second copy and have none: after the mirror was switched on, and each night."""

from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob, BlobCopy, Installation

from ...content.blobs.blob_use import is_used
from ...content.copies.outbox import want_copies

PAGE = 500
AGAIN_AFTER = timedelta(hours=24)
# The name of the value in the table `installation` that says when the blobs were compared with their copies.
PREFIX = "mirror.compared."


def fill_gaps(database: Database, storage: str, *, keep_going: Callable[[], None], now: datetime | None = None) -> int:
    """Insert the rows that are missing, page by page; return their number. Once in 24 hours, else do nothing."""
    now = now or utc_now()
    name = (PREFIX + storage)[:64]
    with database.reading() as session:
        last = session.scalar(select(Installation.value).where(Installation.name == name))
        newest = session.scalar(select(func.max(Blob.id))) or 0
    if last is not None and abs(now - datetime.fromisoformat(last)) < AGAIN_AFTER:
        return 0
    filled = after = 0
    while after < newest:
        keep_going()
        with database.reading() as session:
            last_id, missing = _read_page(session, storage, after)
        if missing:
            filled += database.write(lambda session, missing=missing: want_copies(session, missing, storage))  # type: ignore[misc]
        after = last_id or newest
    database.write(lambda session: session.merge(Installation(name=name, value=now.isoformat())))
    return filled


def compare_again(database: Database, storage: str) -> None:
    """Let the next call compare the blobs with their copies, whenever the last one did."""
    database.execute(delete(Installation).where(Installation.name == (PREFIX + storage)[:64]))


def _read_page(session: Session, storage: str, after: int) -> tuple[int | None, list[int]]:
    """Return the last id of a page of blobs, None after the last one, and the ids of those that need a row."""
    page = select(Blob.id).where(Blob.id > after).order_by(Blob.id).limit(PAGE).subquery()
    last_id = session.scalar(select(func.max(page.c.id)))
    if last_id is None:
        return None, []
    copies = select(BlobCopy.id).where(BlobCopy.blob_id == Blob.id, BlobCopy.storage == storage)
    query = select(Blob.id).where(
        Blob.id > after, Blob.id <= last_id, Blob.storage != storage, ~copies.exists(), is_used()
    )
    return last_id, list(session.scalars(query))
