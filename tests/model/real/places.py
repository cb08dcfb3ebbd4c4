"""The database and the storages of the real services, which keep their bytes in memory."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import select

from frepo_core.db.models import Content, StoredObject
from frepo_core.domain.naming import parse_digest_in_key
from frepo_core.services.content.objects.uses import is_used
from frepo_core.services.content.storages.owner_mark import OwnerMark
from frepo_core.testing import MemoryStorage
from model.state import CURRENT, DAMAGED, MISSING, RAW, SUPERSEDED
from support.encodings.nights import nights

from .telling import NotDoneError, told

STORAGES = ("local", "second", "third")
CONTENTS = tuple(nights(3, 1500))
DIGESTS = tuple(hashlib.sha256(content).hexdigest() for content in CONTENTS)


class Places:
    """Where bytes are, and the rows about them. Contents, bases and storages have the numbers of the model."""

    def __init__(self, services: Any, memory: dict[str, MemoryStorage] | None = None) -> None:
        """`memory` are the storages, if there are some already."""
        self.database, self.backends = services.database, services.backends
        self.memory = memory or {name: MemoryStorage() for name in STORAGES}
        for name, storage in self.memory.items():
            self.backends._built[name] = storage
        self._sound = set(DIGESTS)

    def expect(self, digest: str) -> None:
        """Note the SHA-256 of an encoded object."""
        self._sound.add(digest)

    def is_sound(self, storage: str, key: str) -> bool:
        """Return whether stored bytes are right."""
        return hashlib.sha256(self.memory[storage]._blobs[key].content).hexdigest() in self._sound

    def flip(self, storage: str, key: str) -> None:
        """Flip a bit of stored bytes."""
        blob = self.memory[storage]._blobs[key]
        changed = bytearray(blob.content)
        changed[len(changed) // 2] ^= 1
        self.memory[storage]._blobs[key] = replace(blob, content=bytes(changed))

    def keys(self, storage: str) -> list[str]:
        """Return the keys of contents in a storage: not those of marks and probes."""
        found = [stat.key for stat in self.memory[storage].list()]
        return [key for key in found if not OwnerMark.parse(key) and parse_digest_in_key(key) in DIGESTS]

    def keys_with_rows(self) -> set[str]:
        """Return the keys of all rows."""
        with self.database.reading() as session:
            return {key for key in session.scalars(select(StoredObject.key)) if key}

    def rows(self) -> list[StoredObject]:
        """Return all rows."""
        with self.database.reading() as session:
            return list(session.scalars(select(StoredObject).order_by(StoredObject.id)))

    def find(self, content: int, storage: int) -> list[StoredObject]:
        """Return the rows of a content in a storage."""
        place = DIGESTS[content], STORAGES[storage]
        return [row for row in self.rows() if (row.digest, row.storage) == place]

    def find_current(self, content: int, storage: int) -> StoredObject:
        """Return the current object of a content in a storage."""
        for row in self.find(content, storage):
            if row.slot is not None and row.state in CURRENT:
                return row
        raise NotDoneError("there is no current object")

    def matches(self, row: StoredObject, base: int, state: str, *, is_sound: bool) -> bool:
        """Return whether a row with bytes is the object that the model means."""
        if row.key not in self.memory[row.storage]._blobs or self.is_sound(row.storage, str(row.key)) != is_sound:
            return False
        if row.base_digest != (None if base == RAW else DIGESTS[base]):
            return False
        gave_way = state == SUPERSEDED and row.slot is None and row.state in {DAMAGED, MISSING}
        is_same = all(told(row.state, is_used=is_used) == told(state, is_used=is_used) for is_used in (True, False))
        return is_same or gave_way

    def used(self) -> set[str]:
        """Return the digests of the contents that files or the trash use."""
        with self.database.reading() as session:
            return set(session.scalars(select(Content.digest).where(is_used())))

    def content_id(self, content: int) -> int:
        """Return the id of a content."""
        with self.database.reading() as session:
            return session.scalars(select(Content.id).where(Content.digest == DIGESTS[content])).one()


def settings(ini: dict[str, str], folder: Path) -> dict[str, str]:
    """Return the settings with the other storages, the second one for second copies."""
    more = {"storages": " ".join(STORAGES[1:]), "mirror": STORAGES[1], "mirror.delete_delay": "0s", "trash.keep": "0s"}
    for name in STORAGES[1:]:
        more |= {f"storage.{name}.adapter": "local", f"storage.{name}.directory": str(folder / name)}
    return ini | more
