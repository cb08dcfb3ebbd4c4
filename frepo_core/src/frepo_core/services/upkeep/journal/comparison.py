"""Compares the journal in a storage with what the database knows of it."""

from frepo_core.db import Database
from frepo_core.plugins import StorageBackend

from ...content.storages.backends import Backends
from ...content.storages.kept_blobs import find_adoption
from ...content.storages.storage_identity import is_there
from ...content.storages.write_guard import Presence
from .cursors import Cursor, read_cursors
from .keys import JournalKey


def find_unknown_part(database: Database, backends: Backends, presence: Presence, storage: str) -> str | None:
    """Return the key of the next part of the journal if the storage has it already; None if the database is as new.

    After an adoption, what it did not know is kept, and the journal goes on after a catalogue. Another process may be
    writing that part now: it notes it at once. Raises `StorageUnavailable` if the storage is not the one it was, and
    the storage's own errors.
    """
    mark = presence.look_for_mark(storage)
    before = _read(database, storage)
    if (find_adoption(database, storage) or 0) > (before.epoch if before else 0):
        return None
    key = find_next_part(backends.get(storage), before, mark.epoch if mark else 0)
    return key if before == _read(database, storage) else None


def find_next_part(backend: StorageBackend, cursor: Cursor | None, epoch: int) -> str | None:
    """Return the key of the part after the cursor's, if the storage has it: under this epoch, or still under the last.

    A sweep since has raised the epoch, under which the journal goes on.
    """
    number = (cursor.number if cursor else 0) + 1
    keys = [JournalKey(epoch=one, number=number).text for one in {epoch, cursor.epoch if cursor else epoch}]
    return next((key for key in keys if is_there(backend, key)), None)


def _read(database: Database, storage: str) -> Cursor | None:
    with database.reading() as session:
        return read_cursors(session).get(storage)
