"""Reads what takes the place of an object before it is deleted: the gate relies on nothing else."""

import logging
from collections.abc import Callable

from frepo_core.db import Database
from frepo_core.db.models import StoredObject
from frepo_core.errors import StorageError

from ..storages.backends import Backends
from .decodable import Path
from .necessity import Allow, find_survivors, is_lost, is_waiting, may_end
from .states import ENDED

log = logging.getLogger(__name__)

Pace = Callable[[int], None]
# Reads an object, notes the result, and returns whether it is sound. It raises the errors of the storage.
ReadObject = Callable[[StoredObject, Pace], bool]


class Survivors:
    """Finds them for one run of deletions: what was read once in it is not read again."""

    def __init__(self, database: Database, backends: Backends, read: ReadObject, pace: Pace) -> None:
        """`pace` is called with the size of each piece that was read; it may wait, or end the run by an exception."""
        self._database = database
        self._backends = backends
        self._read = read
        self._pace = pace
        self._sound: set[int] = set()
        self._wrong: set[int] = set()

    def read(self, object_id: int) -> frozenset[int] | None:
        """Return the ids of the objects that take the place of one, each of which was read; None if it has to stay.

        What is wrong is marked, and another one is looked for.
        """
        while (found := self._find(object_id, lambda row: lambda other: other.id not in self._wrong)) is not None:
            if all(self._is_sound(one) for one in reversed(found[1])):
                return frozenset(one.id for one in found[1])
        return None

    def find_read(self, object_id: int) -> frozenset[int] | None:
        """Return the same ids if they were read since the object gave up its place. Reads nothing.

        Of one that is damaged or missing, nothing is lost: what replaces it need not have been read.
        """
        found = self._find(object_id, lambda row: lambda other: is_lost(row) or _was_read_since(row, other))
        return None if found is None else frozenset(one.id for one in found[1])

    def _find(self, object_id: int, choose: Callable[[StoredObject], Allow]) -> tuple[StoredObject, Path] | None:
        with self._database.reading() as session:
            row = session.get(StoredObject, object_id)
            if row is None:
                return None
            if row.state in ENDED:
                return row, []
            if is_waiting(session, self._backends) or not self._backends.journals.is_compared(row.storage):
                return None
            path = find_survivors(session, row, choose(row))
            if path is None or not may_end(session, self._backends, row, [one.id for one in path]):
                return None
            return row, path

    def _is_sound(self, row: StoredObject) -> bool:
        if row.id not in self._sound | self._wrong:
            try:
                is_sound = self._read(row, self._pace)
            except StorageError as error:
                log.warning("%s in %s was not read, so what it replaces stays: %s", row.key, row.storage, error.message)
                is_sound = False
            (self._sound if is_sound else self._wrong).add(row.id)
        return row.id in self._sound


def _was_read_since(row: StoredObject, other: StoredObject) -> bool:
    """Return whether an object was read since another one gave up its place. That it was read back is not enough."""
    return row.slot is None and other.read_at is not None and other.read_at > row.since
