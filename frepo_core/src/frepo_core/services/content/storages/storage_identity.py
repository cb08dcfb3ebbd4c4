"""Recognises whether a storage is the one of this database: by blobs that must be in it."""

from sqlalchemy import select

from frepo_core.db import Database
from frepo_core.db.models import StoredObject
from frepo_core.errors import BlobNotFound, StorageUnavailable
from frepo_core.plugins import StorageBackend

from .backends import Backends

# How many of the newest blobs are looked for in a storage that has no mark yet.
NEWEST = 10
_PRESENT = "present"


def is_there(backend: StorageBackend, key: str) -> bool:
    """Return whether the storage has the blob: by its local file if it has one."""
    try:
        path = backend.path(key)
        if path is not None:
            return path.exists()
        backend.stat(key)
    except BlobNotFound:
        return False
    return True


def find_absence(database: Database, backends: Backends, storage: str) -> str | None:
    """Return why an unmarked storage is not the one of this database, or None.

    The database names blobs in it, and none of the newest is there.
    """
    with database.reading() as session:
        present = (StoredObject.storage == storage, StoredObject.state == _PRESENT, StoredObject.key.is_not(None))
        newest = select(StoredObject.key).where(*present).order_by(StoredObject.id.desc()).limit(NEWEST)
        keys = [str(key) for key in session.scalars(newest)]
    backend = backends.get(storage)
    if not keys or any(is_there(backend, key) for key in keys):
        return None
    return f"it has no mark, and none of the newest {len(keys)} blobs of this database"


def require_known_blobs(database: Database, backends: Backends, storage: str) -> None:
    """Raise `StorageUnavailable` if an unmarked storage is not the one of this database."""
    if absence := find_absence(database, backends, storage):
        raise exchanged(backends, storage, absence)


def exchanged(backends: Backends, storage: str, reason: str) -> StorageUnavailable:
    """Return the error that the storage is another one; `reason` says how this was found."""
    prefix = backends.settings_prefix(storage)
    return StorageUnavailable(
        f"The storage {storage!r} is not the one it was: {reason}. Nothing is written to it. Mount the right disk, or "
        f"correct the settings {prefix}.*. If it was replaced on purpose: frepo storage:adopt --storage {storage}"
    )
