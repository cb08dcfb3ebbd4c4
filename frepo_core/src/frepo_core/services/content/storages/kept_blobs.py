"""Blobs that an adopted storage had and that the database does not know: they are kept for a while.

A database that was restored from last night does not know what was uploaded since. An operator who lets it adopt the
storage must not lose that with the next sweep.
"""

import json
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.clock import read_clock
from frepo_core.db.models import Installation, StorageMark

KEPT_FOR = timedelta(days=30)
# The clocks of the storage and of the database may differ.
_TOLERANCE = timedelta(hours=1)
_PREFIX = "adopted:"
# What the names of the values begin with that name storages which were adopted and not reconciled since: no content is
# deleted until then, because the records may be older than the storages.
RECONCILE = "reconcile."


def note_adoption(database: Database, storage: str, epoch: int) -> None:
    """Keep what is in the storage now for 30 days, although the database does not know it.

    `epoch` is that of the first mark since: what others wrote, such as the journal, has a lower one.
    """

    def work(session: Session) -> None:
        now = read_clock(session).isoformat()
        session.merge(Installation(name=_PREFIX + storage, value=json.dumps({"at": now, "epoch": epoch})))
        names = {storage, *session.scalars(select(StorageMark.storage).distinct())}
        for name in sorted(names):  # what one of them lacks may be in another one
            session.merge(Installation(name=RECONCILE + name, value=now))

    database.write(work, may_use_reserve=True)


def find_kept(database: Database, storage: str) -> datetime | None:
    """Return until when the blobs were stored that are kept (UTC); None if the 30 days are over, or never began."""
    note = _read(database, storage)
    at = datetime.fromisoformat(note["at"]) if note else None
    return None if at is None or database.now() > at + KEPT_FOR else at + _TOLERANCE


def find_adoption(database: Database, storage: str) -> int | None:
    """Return the epoch of the first mark since the last adoption over marks that differed; None if there was none."""
    note = _read(database, storage)
    return int(note["epoch"]) if note else None


def _read(database: Database, storage: str) -> dict[str, Any] | None:
    with database.reading() as session:
        value = session.scalar(select(Installation.value).where(Installation.name == _PREFIX + storage))
    return json.loads(value) if value else None
