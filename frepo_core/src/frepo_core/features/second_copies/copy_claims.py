"""Gives objects that are to be made their keys, and says from which other object each is made."""

from datetime import datetime

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session, aliased

from frepo_core.db.models import StoredObject
from frepo_core.domain.naming import new_blob_key
from frepo_core.services.content.objects.decodable import find_base_path
from frepo_core.services.content.objects.places import find_places
from frepo_core.services.content.objects.states import CURRENT, DELTA, LACKING, RAW, SOUND, ObjectState
from frepo_core.services.content.objects.uses import is_second_copy
from frepo_core.services.content.storages.backends import Backends

from .copier import CopyTask


def has_source() -> ColumnElement[bool]:
    """Return the condition that another object of the content has its bytes."""
    other = aliased(StoredObject)
    sound = (other.content_id == StoredObject.content_id, other.state.in_(SOUND), other.id != StoredObject.id)
    return select(other.id).where(*sound).correlate(StoredObject).exists()


def claim(session: Session, backends: Backends, row: StoredObject, until: datetime | None = None) -> CopyTask | None:
    """Return the task to make an object, whose locked row gets a key; None if it has to wait.

    Until `until`, no other process begins with it. Bytes that may be there already are read first.
    """
    assert row.content_id is not None
    if row.key is not None:
        row.next_try = until or row.next_try
        return _task(row, row.key, None)
    source, is_decoded = _find_source(session, backends, row)
    if source is None:
        return None
    row.key, row.state, row.next_try = new_blob_key(row.digest), ObjectState.WRITING.value, until or row.next_try
    is_raw = is_decoded or source.encoding == RAW
    row.encoding = RAW if is_raw else source.encoding
    row.stored_size, row.stored_digest = (None, None) if is_raw else (source.stored_size, source.stored_digest)
    row.base_digest = None if is_raw else source.base_digest
    return _task(row, row.key, source, is_decoded=is_decoded, is_repair=_is_repair(session, backends, row))


def _task(
    row: StoredObject,
    key: str,
    source: StoredObject | None,
    *,
    is_decoded: bool = False,
    is_repair: bool = False,
) -> CopyTask:
    return CopyTask(
        id=row.id,
        content_id=row.content_id or 0,
        digest=row.object_digest,
        size=row.object_size,
        storage=row.storage,
        key=key,
        source=source,
        encoding=row.encoding,
        base_digest=row.base_digest,
        is_decoded=is_decoded,
        is_repair=is_repair,
    )


def _find_source(session: Session, backends: Backends, row: StoredObject) -> tuple[StoredObject | None, bool]:
    """Return the object from which one is made, and whether it is decoded for that.

    Its bytes are stored as they are, if the storage has the base of a difference. If that is about to get into the
    storage, the object waits for it.
    """
    places = [place for place in find_places(session, row.digest, backends.current) if place.state in SOUND]
    places.sort(key=lambda place: (place.storage == row.storage, backends.breaker.skips(place.storage)))
    for place in places:
        if place.id == row.id:
            continue
        if place.encoding != DELTA or find_base_path(session, row, str(place.base_digest), row.storage) is not None:
            return place, False
        if _is_base_coming(session, row, place):
            return None, False
        return place, True
    return None, False


def _is_base_coming(session: Session, row: StoredObject, place: StoredObject) -> bool:
    lacking = (StoredObject.state.in_(LACKING), StoredObject.slot == CURRENT)
    of_base = (StoredObject.digest == place.base_digest, StoredObject.storage == row.storage)
    return session.scalar(select(StoredObject.id).where(*of_base, *lacking).limit(1)) is not None


def _is_repair(session: Session, backends: Backends, row: StoredObject) -> bool:
    """Return whether a first copy takes the place of one that was damaged or is missing."""
    if is_second_copy(backends, row):
        return False
    bad = StoredObject.state.in_([ObjectState.DAMAGED, ObjectState.MISSING])
    same = (StoredObject.content_id == row.content_id, StoredObject.storage == row.storage)
    return session.scalar(select(StoredObject.id).where(*same, bad, StoredObject.slot.is_(None)).limit(1)) is not None
