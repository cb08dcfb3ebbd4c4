"""Notes when all contents of a side were checked: those of the first storages, or the second copies in one storage."""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import Installation

# The names of values in the table `installation`. No storage has the name of the first side.
PREFIX = "verified."
FIRST_SIDE = "."


def note_full_check(database: Database, side: str, at: datetime) -> None:
    """Note that no content of a side was left unchecked at this time."""
    database.write(lambda session: session.merge(Installation(name=PREFIX + side, value=at.isoformat())))


def read_full_checks(session: Session) -> dict[str, datetime]:
    """Return when each side was checked fully the last time (UTC, aware)."""
    rows = session.scalars(select(Installation).where(Installation.name.startswith(PREFIX, autoescape=True)))
    return {row.name.removeprefix(PREFIX): datetime.fromisoformat(row.value) for row in rows}
