"""Finds a place that two storages of the settings share: each would sweep the blobs of the other."""

from io import BytesIO

from sqlalchemy import select

from frepo_core.db import Database
from frepo_core.db.models import StorageMark
from frepo_core.errors import ConfigurationError, StorageUnavailable

from ...base.installation import ensure_id
from .backends import Backends
from .owner_mark import OwnerMark
from .storage_identity import is_there


def require_own_place(database: Database, backends: Backends, storage: str) -> None:
    """Raise `StorageUnavailable` if the current mark of another storage of this database is in this one."""
    if other := find_other_name(database, backends, storage):
        prefix = backends.settings_prefix(storage)
        raise StorageUnavailable(
            f"The storages {storage!r} and {other!r} are one place: {storage!r} contains the mark of {other!r}. "
            f"Nothing is written to {storage!r}. Correct the settings {prefix}.*. If its content is a copy of the "
            f"other one: frepo storage:adopt --storage {storage}"
        )


def find_other_name(database: Database, backends: Backends, storage: str) -> str | None:
    """Return the name of another storage of this database whose current mark is in this one, or None.

    A storage that keeps its blobs in another one may show the marks of that one, so these two are not compared.
    """
    for other, mark in _current_marks(database, storage):
        if is_there(backends.get(storage), mark.key) and not backends.are_layers(storage, other):
            return other
    return None


def require_two_places(database: Database, backends: Backends, storage: str) -> None:
    """Raise `ConfigurationError` if another storage answers what is stored in this one. Stores and deletes a probe.

    So a copy of another storage is known from a second name of it: both contain the mark.
    """
    other = find_other_name(database, backends, storage)
    if other is None:
        return
    probe, backend = OwnerMark.make(ensure_id(database), 0), backends.get(storage)
    backend.store(probe.key, BytesIO(b""), 0)
    try:
        is_same = is_there(backends.get(other), probe.key)
    finally:
        backend.delete(probe.key)
    if is_same:
        raise ConfigurationError(
            f"The storages {storage!r} and {other!r} are one place: what is stored in one is in the other. Correct the "
            f"settings {backends.settings_prefix(storage)}.*, or remove {storage!r} from storages (STORAGES)"
        )


def _current_marks(database: Database, storage: str) -> list[tuple[str, OwnerMark]]:
    with database.reading() as session:
        stored = select(StorageMark).where(StorageMark.storage != storage, StorageMark.is_stored)
        rows = {row.storage: row for row in session.scalars(stored.order_by(StorageMark.epoch))}
    if not rows:
        return []
    own = ensure_id(database)
    return [(name, OwnerMark(database=own, epoch=row.epoch, nonce=row.nonce)) for name, row in rows.items()]
