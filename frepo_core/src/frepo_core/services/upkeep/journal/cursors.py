"""How far the journal of each storage has come. It is a value of the installation, in the database itself.

A database that is restored from a backup gets its cursors back, too, and continues where they are.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Installation
from frepo_core.domain.structs import struct

_PREFIX = "journal:"
_RESTORED = "restored:"
BROKEN = -1


@struct
class Cursor:
    """The last part of the journal in a storage: its place, and the position of the last event before it.

    The position is -1 if the journal cannot go on before a catalogue is written. `catalogue` is the key of the newest
    catalogue, `at` the time of what is recorded last (ISO 8601, UTC). `digest` is that of the last part, and `secrets`
    the id of those that it was sealed with.
    """

    position: int
    epoch: int
    number: int
    at: str
    catalogue: str
    digest: str = ""
    secrets: str = ""

    @property
    def is_broken(self) -> bool:
        """Whether the journal cannot go on before a catalogue is written."""
        return self.position == BROKEN


_NEVER = Cursor(position=BROKEN, epoch=0, number=0, at="", catalogue="")


def read_cursors(session: Session) -> dict[str, Cursor]:
    """Return the cursors by the names of their storages."""
    query = select(Installation.name, Installation.value).where(Installation.name.like(f"{_PREFIX}%"))
    return {name.removeprefix(_PREFIX): Cursor(**json.loads(value)) for name, value in session.execute(query)}


def change_cursor(database: Database, storage: str, change: Callable[[Cursor | None], Cursor]) -> None:
    """Replace the cursor of a storage by what `change` returns for the present one."""

    def work(session: Session) -> None:
        row = session.get(Installation, _PREFIX + storage, with_for_update=True)
        cursor = change(Cursor(**json.loads(row.value)) if row else None)
        session.merge(Installation(name=_PREFIX + storage, value=json.dumps(asdict(cursor))))

    database.write(work, may_use_reserve=True)


def break_off(database: Database, storage: str) -> None:
    """Let the journal of a storage go on after the next catalogue only."""
    change_cursor(database, storage, lambda found: replace(found, position=BROKEN) if found else _NEVER)


def note_restore(database: Database, storage: str, cursor: Cursor | None, at: str) -> None:
    """Remember that the database was restored, as the storage has parts that it does not know; `at` is the time now.

    The cursor is that of the backup: up to its position, the storage and the database have the same events.
    """
    if cursor is not None and not cursor.is_broken:
        name = f"{_RESTORED}{cursor.position}:{storage}"
        database.write(lambda session: session.merge(Installation(name=name, value=at)), may_use_reserve=True)


def read_restores(session: Session) -> list[tuple[str, int, str]]:
    """Return the restores of the database: each storage, the last position that both have, and when it was found."""
    query = select(Installation.name, Installation.value).where(Installation.name.like(f"{_RESTORED}%"))
    found = [(name.removeprefix(_RESTORED).partition(":"), at) for name, at in session.execute(query)]
    return sorted((storage, int(position), at) for (position, _, storage), at in found)
