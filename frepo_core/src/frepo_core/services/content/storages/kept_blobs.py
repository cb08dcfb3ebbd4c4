"""Blobs that an adopted storage had and that the database does not know: they are kept for a while.

A database that was restored from last night does not know what was uploaded since. An operator who lets it adopt the
storage must not lose that with the next sweep.
"""

from datetime import datetime, timedelta

from sqlalchemy import select

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Installation

KEPT_FOR = timedelta(days=30)
# The clocks of the storage and of the database may differ.
_TOLERANCE = timedelta(hours=1)
_PREFIX = "adopted:"


def note_adoption(database: Database, storage: str) -> None:
    """Keep what is in the storage now for 30 days, although the database does not know it."""
    row = Installation(name=_PREFIX + storage, value=utc_now().isoformat())
    database.write(lambda session: session.merge(row), may_use_reserve=True)


def find_kept(database: Database, storage: str) -> datetime | None:
    """Return until when the blobs were stored that are kept (UTC); None if the 30 days are over, or never began."""
    with database.reading() as session:
        value = session.scalar(select(Installation.value).where(Installation.name == _PREFIX + storage))
    if value is None or utc_now() > datetime.fromisoformat(value) + KEPT_FOR:
        return None
    return datetime.fromisoformat(value) + _TOLERANCE
