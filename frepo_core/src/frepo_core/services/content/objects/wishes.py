"""Inserts the wishes for objects: each transaction that begins to use a content says where it is promised."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.clock import read_clock
from frepo_core.db.models import Content, Installation, StoredObject
from frepo_core.db.row_inserts import insert_of, insert_rows

from ..storages.backends import Backends
from .promises import Promise, find_promises
from .states import COPY, CURRENT, FIRST, ObjectState

_INSERT = insert_of(StoredObject)
# What the names of the values in the table `installation` begin with that say when contents were compared.
COMPARED = "mirror.compared."


def want_all(session: Session, backends: Backends, content_ids: Sequence[int]) -> int:
    """Insert the wishes for objects that contents lack; return their number.

    Call it in the transaction that begins to use the contents, after the rows that use them.
    """
    if not content_ids:
        return 0
    bring_back(session, backends, content_ids)
    promises, has = find_promises(session, backends, content_ids), find_storages(session, content_ids)
    wanted: dict[int, Collection[str]] = {id_: promises[id_].lacking(has[id_]) for id_ in content_ids}
    return want(session, promises, wanted)


def want(session: Session, promises: dict[int, Promise], wanted: dict[int, Collection[str]]) -> int:
    """Insert these wishes. The newest contents are copied first."""
    ids, now = [id_ for id_, storages in wanted.items() if storages], read_clock(session)
    if not ids:
        return 0
    query = select(Content.id, Content.digest, Content.size, Content.created_at).where(Content.id.in_(ids))
    rows = [
        wish(content_id, digest, size, storage, now, created, FIRST if storage in promises[content_id].homes else COPY)
        for content_id, digest, size, created in session.execute(query)
        for storage in sorted(wanted[content_id])
    ]
    insert_rows(session, _INSERT, rows)
    return len(rows)


def wish(
    content_id: int, digest: str, size: int, storage: str, now: datetime, created: datetime, role: str = COPY
) -> dict[str, Any]:
    """Return the row of a wish."""
    return {
        "content_id": content_id,
        "digest": digest,
        "size": size,
        "storage": storage,
        "state": ObjectState.WANTED.value,
        "slot": CURRENT,
        "role": role,
        "since": now,
        "next_try": min(created, now),
    }


def find_storages(session: Session, content_ids: Sequence[int]) -> dict[int, set[str]]:
    """Return in which storages contents have a current object, or shall get one."""
    found: dict[int, set[str]] = defaultdict(set)
    query = select(StoredObject.content_id, StoredObject.storage).where(StoredObject.slot == CURRENT)
    for content_id, storage in session.execute(query.where(StoredObject.content_id.in_(content_ids))):
        found[content_id or 0].add(storage)
    return found


def bring_back(session: Session, backends: Backends, content_ids: Sequence[int]) -> None:
    """Let objects that are leaving be current again, where their contents are promised again."""
    leaving = (StoredObject.content_id.in_(content_ids), StoredObject.state == ObjectState.LEAVING.value)
    rows = session.scalars(select(StoredObject).where(*leaving).order_by(StoredObject.id).with_for_update()).all()
    if not rows:
        return
    ids = [row.content_id for row in rows if row.content_id is not None]
    promises, has = find_promises(session, backends, ids), find_storages(session, ids)
    for row in rows:
        content_id = row.content_id or 0
        if row.storage in promises[content_id].storages and row.storage not in has[content_id]:
            row.state, row.slot, row.delete_after = ObjectState.PRESENT.value, CURRENT, None
            row.since = read_clock(session)
            has[content_id].add(row.storage)
    session.flush()


def compare_again(database: Database) -> None:
    """Let the job `mirror` compare all contents with their objects in its next run, whenever it did so last."""
    database.execute(delete(Installation).where(Installation.name.startswith(COMPARED, autoescape=True)))
