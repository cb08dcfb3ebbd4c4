"""Says which contents are named and cannot be read after a recovery, and gives each a place for the reports."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db.clock import read_clock
from frepo_core.db.models import Content, File, StoredObject, TrashEntry, Version
from frepo_core.domain.naming import new_blob_key
from frepo_core.services.content.objects.promises import find_promises
from frepo_core.services.content.objects.states import CURRENT, FIRST, ObjectState
from frepo_core.services.content.objects.uses import is_lost
from frepo_core.services.content.storages.backends import Backends

from .staging import MissingContent


def note_lost(backends: Backends, named: Sequence[MissingContent], session: Session) -> list[MissingContent]:
    """Return those of the contents of which no object is sound; each gets one that is missing, where it is promised.

    An upload of the content then stores it again.
    """
    present = select(StoredObject.id).where(
        StoredObject.content_id == Content.id,
        StoredObject.state == ObjectState.PRESENT.value,
        StoredObject.slot == CURRENT,
    )
    query = select(Content).where(Content.digest.in_([one.digest for one in named]), ~present.exists())
    lost = {row.digest: row for row in session.scalars(query)}
    promises = find_promises(session, backends, [row.id for row in lost.values()])
    for content in lost.values():
        home = min(promises[content.id].homes, default=backends.current)
        _note_missing(session, content, home)
    return [one for one in named if one.digest in lost]


def _note_missing(session: Session, content: Content, storage: str) -> None:
    """Let an object that cannot be decoded be current, or else note that one is missing in the storage."""
    states = [ObjectState.DAMAGED, ObjectState.MISSING, ObjectState.FOUND]
    bad = select(StoredObject).where(StoredObject.content_id == content.id, StoredObject.state.in_(states))
    rows = session.scalars(bad.order_by(StoredObject.id)).all()
    if any(row.slot == CURRENT for row in rows):
        return
    now = read_clock(session)
    row = next(iter(rows), None)
    place = (StoredObject.content_id == content.id, StoredObject.storage == (row.storage if row else storage))
    wanted = session.scalar(select(StoredObject).where(*place, StoredObject.slot == CURRENT))
    if row is None:
        row = wanted
    elif wanted is not None:
        session.delete(wanted)  # there is nothing to make it of
        session.flush()
    if row is None:
        row = StoredObject(content_id=content.id, digest=content.digest, size=content.size, storage=storage, role=FIRST)
        session.add(row)
    if row.key is None:
        row.key, row.state = new_blob_key(content.digest), ObjectState.MISSING.value
    if row.state == ObjectState.FOUND:
        row.state = ObjectState.DAMAGED.value
    row.stored_at = row.stored_at or now
    row.slot, row.since, row.next_try, row.delete_after = CURRENT, now, now, None
    session.flush()


def find_lost(session: Session) -> tuple[list[tuple[str, int]], list[str]]:
    """Return collection and number of each version, also in the trash, and the names of files, that cannot be read."""
    files = select(Version.collection_id, Version.number, File.stored_name).select_from(File)
    files = files.join(Content, Content.id == File.content_id).outerjoin(Version, Version.file_id == File.id)
    trash = select(TrashEntry.collection_id, TrashEntry.number).join(Content, Content.id == TrashEntry.content_id)
    versions, names = list[tuple[str, int]](), list[str]()
    for collection_id, number, name in session.execute(files.where(is_lost()).order_by(File.id)):
        if collection_id is None:
            names.append(name)
        else:
            versions.append((collection_id, number))
    return versions + [(row[0], row[1]) for row in session.execute(trash.where(is_lost()))], names


def find_used_storages(session: Session) -> set[str]:
    """Return the storages in which contents are."""
    present = (StoredObject.slot == CURRENT, StoredObject.state == ObjectState.PRESENT.value)
    return set(session.scalars(select(StoredObject.storage).where(*present).distinct()))
