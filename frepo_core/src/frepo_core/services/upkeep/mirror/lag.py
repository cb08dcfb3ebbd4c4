"""How long contents wait for their second copies, and the events when that is too long, and when it is over."""

from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import BlobCopy, Installation
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By

from ...content.copies.states import LACKING
from ...content.storages.backends import Backends
from ...events.recording import NewEvent, record

# The name of the value in the table `installation` that says since when a storage is late.
LATE = "mirror.late."


def find_copy_storages(database: Database, backends: Backends) -> list[str]:
    """Return the configured storages that hold second copies or shall get some, by name."""
    found = {backends.mirror or ""}
    last = ""
    with database.reading() as session:
        while last := session.scalar(select(func.min(BlobCopy.storage)).where(BlobCopy.storage > last)) or "":
            found.add(last)
    return sorted(found & set(backends.configured))


def find_oldest(session: Session, storage: str) -> datetime | None:
    """Return since when the content waits that has waited longest for a sound copy in this storage; None if none."""
    found = [
        session.scalar(
            select(func.min(BlobCopy.wanted_at)).where(BlobCopy.storage == storage, BlobCopy.state == state.value)
        )
        for state in LACKING
    ]
    return min((at for at in found if at is not None), default=None)


def report_lag(database: Database, storage: str, max_lag: timedelta, *, by: By) -> None:
    """Record an event if a content begins to wait for longer than `max_lag`, and one when none does any more."""
    now = utc_now()
    with database.reading() as session:
        oldest = find_oldest(session, storage)
        was_late = session.get(Installation, LATE + storage) is not None
    is_late = oldest is not None and now - oldest > max_lag
    if is_late != was_late:
        database.write(lambda session: _record(session, storage, oldest if is_late else None, by))


def _record(session: Session, storage: str, late_since: datetime | None, by: By) -> None:
    row = session.scalar(select(Installation).where(Installation.name == LATE + storage).with_for_update())
    if late_since is not None and row is None:
        session.add(Installation(name=LATE + storage, value=late_since.isoformat()))
        data = {"storage": storage, "since": late_since.isoformat()}
        record(session, NewEvent(kind=EventKind.MIRROR_LATE, by=by, data=data))
    elif late_since is None and row is not None:
        data = {"storage": storage, "since": row.value}
        session.delete(row)
        record(session, NewEvent(kind=EventKind.MIRROR_RECOVERED, by=by, data=data))
