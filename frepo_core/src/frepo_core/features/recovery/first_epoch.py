"""Finds where the journal of a storage begins that this database has written since it was restored."""

from collections.abc import Sequence

from frepo_core.db import Database
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.content.storages.kept_blobs import find_adoption
from frepo_core.services.content.storages.owner_mark import find_marks
from frepo_core.services.content.storages.sweep_guard import Ownership
from frepo_core.services.upkeep.journal.cursors import Cursor, read_cursors
from frepo_core.services.upkeep.journal.keys import JournalKey

from .journal.journal import Journal
from .sources import RecoveryError


def find_first_epoch(
    database: Database, backends: Backends, journal: Journal, storage: str, keys: Sequence[JournalKey]
) -> int:
    """Return the epoch of the first mark since the adoption of a storage. What was lost has a lower one.

    Raises `RecoveryError`, which says what a person can do, if there is nothing to read back among `keys`.
    """
    with database.reading() as session:
        cursor = read_cursors(session).get(storage)
    if cursor and not cursor.is_broken and any(key.place > _last_place(cursor) for key in keys):
        return journal.break_off(storage)
    epoch = find_adoption(database, storage)
    if epoch is None:
        raise RecoveryError(_describe_nothing(database, backends, storage))
    if not any(key.epoch < epoch for key in keys):
        raise RecoveryError(
            f"The storage {storage!r} has no catalogue from before this database adopted it: there is nothing to read "
            "back from it. If something is missing, name the other storages that had it: --merge NAME"
        )
    return epoch


def _last_place(cursor: Cursor) -> tuple[int, int]:
    """Return the last place that this database has written to. A sweep may have raised the epoch before a catalogue."""
    catalogue = JournalKey.parse(cursor.catalogue)
    return max((cursor.epoch, cursor.number), catalogue.place if catalogue else (0, 0))


def _describe_nothing(database: Database, backends: Backends, storage: str) -> str:
    text = f"The journal in the storage {storage!r} has nothing that this database did not write itself"
    if Ownership(database, backends).find_problem(storage, find_marks(backends.get(storage))):
        return (
            f"{text}, but its marks are not those of this database. If the database was restored from a backup: "
            f"`frepo storage:adopt --storage {storage}` first, and then this command again"
        )
    return (
        f"{text}: there is nothing to read back from it, and nothing to adopt. If the database was restored from a "
        "backup and something is missing, another storage may have it: --merge NAME"
    )
