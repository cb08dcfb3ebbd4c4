"""Builds the events about damaged and healed blobs."""

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db.models import File, StoredObject, TrashEntry, Version
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By

from .recording import NewEvent

# How many of the files that use a blob its event names.
NAMED = 20


def blob_damaged(session: Session, row: StoredObject, problem: str, *, by: By) -> NewEvent:
    """Return the event about bytes that were found to be wrong or missing."""
    return _blob_event(session, EventKind.BLOB_DAMAGED, row, by, problem=problem)


def copy_damaged(row: StoredObject, problem: str, *, by: By) -> NewEvent:
    """Return the event about a second copy that was found to be wrong or missing."""
    data = {"storage": row.storage, "key": row.key, "size": row.size, "sha256": row.digest, "problem": problem}
    return NewEvent(kind=EventKind.COPY_DAMAGED, by=by, data=data)


def blob_healed(session: Session, row: StoredObject, *, by: By) -> NewEvent:
    """Return the event about damaged bytes that are sound again. Call it when the row names the sound ones."""
    return _blob_event(session, EventKind.BLOB_HEALED, row, by)


def _blob_event(session: Session, kind: EventKind, row: StoredObject, by: By, **more: Any) -> NewEvent:
    users = _users(session, row)
    files = session.scalar(select(func.count()).select_from(File).where(File.content_id == row.content_id)) or 0
    trashed = (
        session.scalar(select(func.count()).select_from(TrashEntry).where(TrashEntry.content_id == row.content_id)) or 0
    )
    count = files + trashed
    about = users[0] if files == count == 1 else {}
    data = {
        "storage": row.storage,
        "key": row.key,
        "size": row.size,
        "sha256": row.digest,
        "used_by": users,
        "used_by_count": count,
        **more,
    }
    return NewEvent(kind=kind, by=by, **about, data=data)


def _users(session: Session, row: StoredObject) -> list[dict[str, Any]]:
    """Return the first files and versions that use the content, under the names of an event's columns.

    Versions in the trash, which can be restored, come after them.
    """
    query = (
        select(File.id, Version.collection_id, Version.number)
        .join(Version, Version.file_id == File.id, isouter=True)
        .where(File.content_id == row.content_id)
        .order_by(File.id)
        .limit(NAMED)
    )
    users = [
        {"file_id": file_id, "collection_id": collection_id, "version_number": number}
        if collection_id
        else {"file_id": file_id}
        for file_id, collection_id, number in session.execute(query)
    ]
    trashed = select(TrashEntry.collection_id, TrashEntry.number).where(TrashEntry.content_id == row.content_id)
    in_trash = session.execute(trashed.order_by(TrashEntry.id).limit(NAMED - len(users)))
    return users + [
        {"collection_id": collection_id, "version_number": number, "in_trash": True}
        for collection_id, number in in_trash
    ]
