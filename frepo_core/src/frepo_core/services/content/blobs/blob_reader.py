"""Reads objects and records whether they are sound. Damage is marked; nothing is deleted."""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from sqlalchemy import CursorResult, update
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.clock import read_clock
from frepo_core.db.models import Content, StoredObject
from frepo_core.domain.identity import By
from frepo_core.domain.structs import struct
from frepo_core.plugins import Checksums

from ..chains.chain_damage import find_object_damage
from ..chains.chain_reader import ChainReader
from ..objects.blob_damage import UnreadableError, find_damage
from ..objects.gate import Gate
from ..objects.marks import mark_damaged, mark_sound
from ..objects.states import ObjectState
from ..objects.uses import is_second_copy
from ..storages.backends import Backends
from ..storages.write_guard import Presence


@struct
class Damage:
    """A damaged object: the digest of its content, storage and key, and what is wrong.

    `is_marked` is False for one that could not be read: its bytes may be fine.
    """

    digest: str
    storage: str
    key: str
    problem: str
    is_marked: bool = True


class BlobReader:
    """Reads objects and records the results, for `verify` and for downloads of damaged contents."""

    def __init__(
        self, database: Database, backends: Backends, pace: Callable[[int], None] | None = None, by: By = None
    ) -> None:
        """`pace` gets the size of each piece that was read, and may wait or end the run. `by` is the reader."""
        self._database = database
        self._backends = backends
        self._chains = ChainReader(database, backends)
        self._presence = Presence(database, backends)
        self._pace = pace
        self._by = by

    def read(self, row: StoredObject) -> tuple[bool, Damage | None]:
        """Read an object and record the result.

        Return whether the result is current, and the damage. It is out of date if the object was replaced since it was
        listed. Raises `StorageUnavailable` if the storage is not the one it was.
        """
        sums = Checksums()
        damage = partial(Damage, digest=row.digest, storage=row.storage, key=str(row.key))
        try:
            problem = self._find_damage(row, sums)
        except UnreadableError as error:
            return True, damage(problem=str(error), is_marked=False)  # not recorded: the next run tries again
        if problem:
            self._presence.look_for_mark(row.storage)
        is_current = self._record(row, problem, sums)
        return is_current, damage(problem=problem) if problem else None

    def _find_damage(self, row: StoredObject, sums: Checksums) -> str | None:
        """Decode a first copy. A second one is compared as it is stored: its bases are read for themselves.

        Nobody has decoded one that was only found: the digest of its stored bytes says nothing then.
        """
        backend = self._backends.get(row.storage)
        if is_second_copy(self._backends, row) and row.read_at is not None:
            place = {"digest": row.object_digest, "size": row.object_size}
            return find_damage(backend, str(row.key), pace=self._pace, **place)  # type: ignore[arg-type]
        return find_object_damage(self._chains, backend, row, sums=sums, pace=self._pace)

    def _record(self, row: StoredObject, problem: str | None, sums: Checksums) -> bool:
        def work(session: Session) -> bool:
            if problem is not None:
                return mark_damaged(session, self._backends, row, problem, by=self._by)
            is_current = _note_sound(session, row) or mark_sound(session, self._backends, row, by=self._by)
            if is_current and sums.digest == row.digest:
                _note_checksum(session, row, sums)
            return is_current

        return self._database.write(work)


def new_gate(database: Database, backends: Backends, presence: Presence) -> Gate:
    """Return a gate that reads objects in this way."""

    def read(row: StoredObject, pace: Callable[[int], None]) -> bool:
        is_current, damage = BlobReader(database, backends, pace).read(row)
        return is_current and damage is None

    return Gate(database, backends, presence, read)


def _note_sound(session: Session, row: StoredObject) -> bool:
    """Record that an object is still sound, by one statement. Return False if it was not, or was changed meanwhile."""
    change = update(StoredObject).where(
        StoredObject.id == row.id, StoredObject.key == row.key, StoredObject.state == ObjectState.PRESENT.value
    )
    result = session.execute(change.values(read_at=read_clock(session)))
    return bool(cast(CursorResult[Any], result).rowcount)


def _note_checksum(session: Session, row: StoredObject, sums: Checksums) -> None:
    differs = (Content.checksum.is_(None)) | (Content.checksum != sums.checksum)
    session.execute(update(Content).where(Content.id == row.content_id, differs).values(checksum=sums.checksum))
