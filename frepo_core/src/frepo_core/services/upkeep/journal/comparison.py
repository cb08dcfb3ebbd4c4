"""Compares the journal in a storage with what the database knows of it."""

from frepo_core.db import Database

from ...content.storages.backends import Backends
from ...content.storages.storage_identity import is_there
from ...content.storages.write_guard import Presence
from .cursors import Cursor, read_cursors
from .keys import JournalKey


def find_unknown_part(database: Database, backends: Backends, presence: Presence, storage: str) -> str | None:
    """Return the key of the next part of the journal if the storage has it already; None if the database is as new.

    Another process may be writing that part now: it notes it at once. Raises `StorageUnavailable` if the storage is not
    the one it was, and the storage's own errors.
    """
    mark = presence.look_for_mark(storage)
    before = _read(database, storage)
    epoch = max(mark.epoch if mark else 0, before.epoch if before else 0)
    key = JournalKey(epoch=epoch, number=(before.number if before else 0) + 1).text
    is_unknown = is_there(backends.get(storage), key) and before == _read(database, storage)
    return key if is_unknown else None


def _read(database: Database, storage: str) -> Cursor | None:
    with database.reading() as session:
        return read_cursors(session).get(storage)
