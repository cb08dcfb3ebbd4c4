"""The mark that a database leaves in a storage: a small blob whose key names the database and an epoch."""

import json
import re
import secrets
import socket
from datetime import datetime
from io import BytesIO
from typing import Self

from frepo_core.domain.json_objects import parse_object
from frepo_core.domain.naming import printable
from frepo_core.domain.structs import struct
from frepo_core.errors import StorageError
from frepo_core.plugins import StorageBackend

# A mark's key has the form of a blob's key, so every storage accepts it and tidies up after it. These 16 bytes replace
# the first half of the digest; a real digest begins with them with a probability of 2^-128.
_PREFIX = b"frepo owner mark".hex()
_KEY = re.compile(rf"{_PREFIX[:2]}/{_PREFIX}([0-9a-f]{{32}})-([0-9a-f]{{8}})([0-9a-f]{{8}})")
_LONGEST_NOTE = 4096


@struct
class OwnerMark:
    """A mark: the id of the database (32 hex digits), the epoch, and a random nonce (8 hex digits).

    The nonce distinguishes the marks of a database from those of its copy, which has the same id and the same epochs.
    """

    database: str
    epoch: int
    nonce: str

    @classmethod
    def make(cls, database: str, epoch: int) -> Self:
        """Return a mark with a new nonce."""
        return cls(database=database, epoch=epoch, nonce=secrets.token_hex(4))

    @classmethod
    def parse(cls, key: str) -> Self | None:
        """Return the mark with this key, or None if the key is not that of a mark."""
        match = _KEY.fullmatch(key)
        return cls(database=match[1], epoch=int(match[2], 16), nonce=match[3]) if match else None

    @property
    def key(self) -> str:
        """The mark's key in the storage."""
        return f"{_PREFIX[:2]}/{_PREFIX}{self.database}-{self.epoch:08x}{self.nonce}"

    def store(self, backend: StorageBackend, at: datetime) -> None:
        """Store the mark with a note for people. `at` is the time for the note (UTC)."""
        note = {
            "about": "This file tells which frepo database owns this storage. Do not delete it.",
            "database": self.database,
            "epoch": self.epoch,
            "host": socket.gethostname(),
            "at": at.isoformat(timespec="seconds"),
        }
        text = json.dumps(note, indent=2).encode()
        backend.store(self.key, BytesIO(text), len(text))

    def read_note(self, backend: StorageBackend) -> str:
        """Return host and time from the note, e.g. `written by backup1 at 2026-05-01T02:15:00+00:00`."""
        try:
            with backend.open(self.key) as blob:
                note = parse_object(blob.read(_LONGEST_NOTE))
            return printable(f"written by {note['host']} at {note['at']}")
        except (StorageError, ValueError, KeyError):
            return "its note cannot be read"


def find_marks(backend: StorageBackend) -> list[OwnerMark]:
    """Return all marks in a storage, in the order of their epochs. Lists the whole storage."""
    marks = [mark for stat in backend.list() if (mark := OwnerMark.parse(stat.key))]
    return sorted(marks, key=lambda mark: (mark.epoch, mark.key))
