"""How long contents wait for their second copies, and the events when that is too long, and when it is over."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Installation, StoredObject
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By
from frepo_core.services.content.objects.states import COPY, CURRENT, LACKING, ObjectState
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.events.recording import NewEvent, record

# The name of the value in the table `installation` that says since when a storage is late.
LATE = "mirror.late."


def find_copy_storages(database: Database, backends: Backends) -> list[str]:
    """Return the configured storages that hold second copies, or shall get objects, by name."""
    found = {backends.mirror or ""}
    with database.reading() as session:
        found |= set(_find_names(session, StoredObject.role == COPY)) - {backends.current}
        for state in (ObjectState.WANTED, ObjectState.WRITING):
            found |= set(_find_names(session, StoredObject.state == state.value))
    return sorted(found & set(backends.configured))


def find_work(database: Database, backends: Backends) -> list[str]:
    """Return the configured storages that the job `mirror` has to look at, by name: also those with damaged objects."""
    found = {*find_copy_storages(database, backends)}
    with database.reading() as session:
        for state in (*LACKING, ObjectState.LEAVING, ObjectState.DOOMED, ObjectState.GONE):
            found |= set(_find_names(session, StoredObject.state == state.value))
    return sorted(found & set(backends.configured))


def _find_names(session: Session, condition: ColumnElement[bool]) -> Iterator[str]:
    """Yield the names of storages with such objects. An index finds one after the other."""
    last = ""
    query = select(func.min(StoredObject.storage)).where(condition)
    while last := session.scalar(query.where(StoredObject.storage > last)) or "":
        yield last


def find_oldest(session: Session, storage: str) -> datetime | None:
    """Return since when the content waits that has waited longest for a sound object in this storage; None if none."""
    oldest = select(func.min(StoredObject.since)).where(StoredObject.storage == storage, StoredObject.slot == CURRENT)
    found = [session.scalar(oldest.where(StoredObject.state == state.value)) for state in LACKING]
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
