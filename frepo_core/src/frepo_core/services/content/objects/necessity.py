"""Decides whether an object is still needed: by what uses its content, and by what is stored as a difference to it."""

from collections.abc import Callable, Collection

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db.models import Content, Installation, StoredObject

from ..storages.backends import Backends
from ..storages.kept_blobs import RECONCILE
from .decodable import Path, find_path, is_decodable
from .promises import find_promises
from .states import CURRENT, SOUND, ObjectState
from .uses import is_used

Allow = Callable[[StoredObject], bool]

_LOST = (ObjectState.DAMAGED, ObjectState.MISSING)
_UNUSED_YET = (ObjectState.WANTED, ObjectState.WRITING)


def may_end(session: Session, backends: Backends, row: StoredObject, relied: Collection[int]) -> bool:
    """Return whether an object may be deleted, while the objects `relied` stay: nothing else takes its place.

    Its content is locked, and so are these objects and their contents. It may be if no other object in its storage is
    less decodable without it, and if nothing uses the content, or the content can be decoded by what stays.
    """
    if row.state in _UNUSED_YET:
        return True  # nothing has relied on it
    session.flush()

    def stays(other: StoredObject) -> bool:
        return other.id in relied

    if _keeps_others(session, row) and _find_path(session, row, row.storage, stays) is None:
        return False
    return not _is_used(session, row) or _has_survivor(session, backends, row, stays)


def find_survivors(session: Session, row: StoredObject, allows: Allow) -> Path | None:
    """Return the objects that take the place of one that is deleted: none if nobody needs it, None if there are none.

    In its own storage, if others need it there or if another object is the current one there; else in another storage.
    Those that `allows` refuses do not count.
    """
    is_base, is_wanted = _keeps_others(session, row), _is_used(session, row)
    if row.state in _UNUSED_YET or not (is_base or is_wanted):
        return []
    own, has = _find_path(session, row, row.storage, allows), _find_storages(session, row)
    if is_base and own is None:
        return None
    if not is_wanted or (own is not None and row.storage in has):
        return own
    for storage in sorted(has - {row.storage}):
        if (path := _find_path(session, row, storage, allows)) is not None:
            return [*path, *(own if is_base and own else ())]
    return None


def is_waiting(session: Session, backends: Backends) -> bool:
    """Return whether a configured storage has to be reconciled before anything is deleted."""
    names = [RECONCILE + name for name in backends.configured]
    return session.scalar(select(Installation.name).where(Installation.name.in_(names)).limit(1)) is not None


def may_be_older(session: Session) -> bool:
    """Return whether the records may be older than any storage: it was not reconciled since it was adopted."""
    names = Installation.name.startswith(RECONCILE, autoescape=True)
    return session.scalar(select(Installation.name).where(names).limit(1)) is not None


def is_lost(row: StoredObject) -> bool:
    """Return whether the bytes of an object are known to be wrong or missing: nothing is less decodable without it."""
    return row.state in _LOST


def _has_survivor(session: Session, backends: Backends, row: StoredObject, stays: Allow) -> bool:
    """Return whether a used content can be decoded without an object, by what stays.

    In its own storage, or in another one. Then each storage that promises the content, and has it or shall get it, has
    to decode it, too; after a migration, each that has it. Nothing may be deleted if there is none.
    """
    assert row.content_id is not None
    has = _find_storages(session, row)
    if row.storage in has and _find_path(session, row, row.storage, stays) is not None:
        return True
    promised = find_promises(session, backends, [row.content_id])[row.content_id].storages
    if row.slot == CURRENT and row.storage in promised:
        has.add(row.storage)
    relied_on = promised & has or (has if row.slot is None else set())
    is_somewhere = any(_find_path(session, row, storage, stays) is not None for storage in has)
    # While a damaged one is the last one, its bytes may be right again.
    if is_lost(row):
        return is_somewhere
    everywhere = all(is_decodable(session, row.digest, storage, without=[row.id]) for storage in relied_on)
    return is_somewhere and bool(relied_on) and everywhere


def _find_storages(session: Session, row: StoredObject) -> set[str]:
    """Return the storages in which another object is the current one of the content."""
    others = (StoredObject.content_id == row.content_id, StoredObject.slot == CURRENT, StoredObject.id != row.id)
    return set(session.scalars(select(StoredObject.storage).where(*others)))


def _find_path(session: Session, row: StoredObject, storage: str, allows: Allow) -> Path | None:
    return find_path(session, row.digest, storage, without=[row.id], allows=allows)


def _is_used(session: Session, row: StoredObject) -> bool:
    return session.scalar(select(Content.id).where(Content.id == row.content_id, is_used())) is not None


def _keeps_others(session: Session, row: StoredObject) -> bool:
    """Return whether objects in the storage need the content of one that can be decoded now.

    Whatever they are: what is kept for a time keeps what it needs as long.
    """
    return row.state in SOUND and _is_base(session, row) and is_decodable(session, row.digest, row.storage)


def _is_base(session: Session, row: StoredObject) -> bool:
    needing = (StoredObject.base_digest == row.digest, StoredObject.storage == row.storage)
    states = StoredObject.state.in_([*SOUND, ObjectState.FOUND, ObjectState.WRITING])
    return session.scalar(select(StoredObject.id).where(*needing, states).limit(1)) is not None
