"""Checks that a storage is still the same one, so that no blob is stored in an empty mount point."""

import contextlib
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from frepo_core.db import Database
from frepo_core.errors import BlobNotFound, FrepoError

from .backends import Backends
from .first_storage import follow_promotion
from .owner_mark import OwnerMark
from .second_names import require_own_place
from .storage_identity import exchanged, is_there, require_known_blobs
from .sweep_guard import Ownership

# For how many seconds a check of a storage without local files is valid.
LOOK_SECONDS = 60.0


@dataclass(frozen=True)
class _Look:
    """A check that found the right storage: when, and the path of the mark if that is a local file."""

    at: float
    path: Path | None


class Presence:
    """Looks for this database's current mark in its storages. If it is missing, another storage is in their place.

    Each process remembers what it has seen.
    """

    def __init__(self, database: Database, backends: Backends) -> None:
        self._database = database
        self._backends = backends
        self._ownership = Ownership(database, backends)
        self._looks: dict[str, _Look] = {}
        self._lock = threading.Lock()

    def require(self, storage: str) -> None:
        """Raise `StorageUnavailable` if the storage is another one: nothing may be written to it then.

        A mark in a local file is checked at each call, another one once a minute.
        """
        with self._lock:
            last = self._looks.get(storage)
        is_recent = last is not None and time.monotonic() - last.at < LOOK_SECONDS
        # The path alone: an upload asks twice, and a backend looks at each folder on the way.
        if last is None or not is_recent or (last.path is not None and not os.path.isfile(last.path)):
            self.look(storage)

    def look(self, storage: str) -> None:
        """Look for the mark now, or for known blobs if the storage has none yet.

        Raises `StorageUnavailable` if they are missing, and the storage's own errors.
        """
        self.forget(storage)
        mark = self.look_for_mark(storage)
        if mark is None or storage != self._backends.current:
            require_own_place(self._database, self._backends, storage)
        if mark is None:
            require_known_blobs(self._database, self._backends, storage)
        with contextlib.suppress(BlobNotFound):  # a sweep has left a newer mark since: the next call looks for that
            path = None if mark is None else self._backends.get(storage).path(mark.key)
            with self._lock:
                self._looks[storage] = _Look(time.monotonic(), path)

    def look_for_mark(self, storage: str) -> OwnerMark | None:
        """Return the mark, None if this database has left none. Raises `StorageUnavailable` if it is missing.

        So the caller knows whether a missing blob is lost, or its storage is another one.
        """
        mark = self._ownership.current(storage)
        while mark is not None and not self._is_there(storage, mark):
            before, mark = mark, self._ownership.current(storage)
            if mark == before:  # no sweep has left a newer one meanwhile
                raise exchanged(self._backends, storage, f"the mark of this database is missing in it ({mark.key})")
        return mark

    def find_file(self, storage: str) -> Path | None:
        """Return the local file of the mark, where it was seen last; None if the storage has none, or none was seen."""
        with self._lock:
            last = self._looks.get(storage)
        return last.path if last else None

    def forget(self, storage: str) -> None:
        """Forget the last look, because the storage has failed: another one may answer next."""
        with self._lock:
            self._looks.pop(storage, None)

    def follow_promotion(self) -> None:
        """Let this process use the storage that was promoted last, because the first one fails."""
        with contextlib.suppress(FrepoError):  # the caller knows how the storage failed
            follow_promotion(self._database, self._backends)

    def _is_there(self, storage: str, mark: OwnerMark | None) -> bool:
        return mark is not None and is_there(self._backends.get(storage), mark.key)
