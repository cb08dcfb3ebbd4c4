"""Reads a second copy and records the result, as `BlobReader` does with first ones."""

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import update

from frepo_core.db import Database, utc_now
from frepo_core.db.models import BlobCopy
from frepo_core.domain.identity import By

from ..blobs.blob_damage import MISSING, UnreadableError, find_damage
from ..storages.backends import Backends
from ..storages.write_guard import Presence
from .marks import mark_copy
from .states import CopyState


@dataclass(frozen=True, kw_only=True)
class CopyProblem:
    """What is wrong with a second copy. `is_marked` is False if it could not be read: its bytes may be fine."""

    problem: str
    is_marked: bool


class CopyCheck:
    """Checks second copies. `pace` gets the size of each piece that was read, and may wait or end the run."""

    def __init__(
        self,
        database: Database,
        backends: Backends,
        presence: Presence,
        *,
        pace: Callable[[int], None] | None = None,
        by: By = None,
    ) -> None:
        self._database = database
        self._backends = backends
        self._presence = presence
        self._pace = pace
        self._by = by

    def check(self, *, storage: str, key: str, digest: str, size: int) -> CopyProblem | None:
        """Read a copy and record the result. Raises `StorageUnavailable`, also if the storage is not the one it was."""
        try:
            problem = find_damage(self._backends.get(storage), key, digest=digest, size=size, pace=self._pace)
        except UnreadableError as error:
            return CopyProblem(problem=str(error), is_marked=False)
        if problem is None:
            sound = update(BlobCopy).where(BlobCopy.key == key, BlobCopy.state == CopyState.PRESENT.value)
            self._database.execute(sound.values(verified_at=utc_now()))
            return None
        self._presence.look_for_mark(storage)
        is_missing = problem == MISSING
        self._database.write(
            lambda session: mark_copy(session, storage, key, problem, is_missing=is_missing, by=self._by)
        )
        return CopyProblem(problem=problem, is_marked=True)
