"""Deletes what is kept for a limited time: events, the records of runs of jobs, one-time codes, and unused tags."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, delete, func, select, update

from frepo_core.db import Database
from frepo_core.db.models import (
    Base,
    DeletedCollection,
    EnrolmentCode,
    Event,
    JobRun,
    ParkedEvent,
    RestoreChoice,
    Run,
    Subscription,
    Tag,
    file_tag,
)

from ..backups.rows.collection_rows import INCARNATION

RUNS_KEPT = timedelta(days=90)
CODES_KEPT = timedelta(days=30)
BATCH = 1000


def prune_events(
    database: Database, *, keep: timedelta, now: datetime, keep_going: Callable[[], None]
) -> dict[str, Any]:
    """Delete the events of before `now - keep`; a `keep` of 0 keeps all. Return the numbers of deleted and late ones,
    and the subscriptions that have not got the late ones yet.

    An event stays as long as it has no position, a subscription has not got it, or it is parked. The newest one always
    stays: positions continue from it. So do those behind one that stays, so that no event is missing between others;
    one that is parked stays alone, without its link in the chain. `keep_going` is called before each batch.
    """
    if not keep:
        return {"events": 0, "late": 0, "waiting_for": []}
    is_old = Event.at < now - keep
    with database.reading() as session:
        newest = session.scalar(select(func.max(Event.position))) or 0
        stays = select(func.min(Event.position)).where(~(is_old & ~_is_awaited()))
        first = min(newest, session.scalar(stays) or newest)
    deleted = _delete_in_batches(database, Event, (Event.position < first) & _is_delivered(), keep_going)
    parked = update(Event).where(Event.position < first, Event.link.is_not(None))
    database.execute(parked.values(link=None).execution_options(synchronize_session=False))
    with database.reading() as session:
        is_late = is_old & ~_is_delivered()
        late, last = session.execute(select(func.count(), func.max(Event.position)).where(is_late)).one()
        waiting = select(Subscription.name).where(Subscription.position < (last or 0)).order_by(Subscription.name)
        return {"events": deleted, "late": late, "waiting_for": list(session.scalars(waiting))}


def prune_job_runs(database: Database, *, now: datetime, keep_going: Callable[[], None]) -> int:
    """Delete the records of job runs that ended more than 90 days ago; return their number."""
    return _delete_in_batches(database, JobRun, JobRun.ended_at < now - RUNS_KEPT, keep_going)


def prune_runs(database: Database, *, keep: timedelta, now: datetime, keep_going: Callable[[], None]) -> int:
    """Delete the runs that clients reported before `now - keep`, and all of collections that are gone for good.

    A `keep` of 0 keeps those of all other collections. Return the number of deleted ones.
    """
    conditions = [Run.incarnation == incarnation for incarnation in _find_gone(database, Run)]
    if keep:
        conditions.append(Run.at < now - keep)
    return sum(_delete_in_batches(database, Run, condition, keep_going) for condition in conditions)


def prune_restore_choices(database: Database, *, keep_going: Callable[[], None]) -> int:
    """Delete how collections were restore-tested that are gone for good; return the number of deleted choices."""
    conditions = [RestoreChoice.incarnation == incarnation for incarnation in _find_gone(database, RestoreChoice)]
    return sum(_delete_in_batches(database, RestoreChoice, condition, keep_going) for condition in conditions)


def _find_gone(database: Database, model: type[Run] | type[RestoreChoice]) -> Sequence[str]:
    """Return the incarnations in a table of which there is no collection, also not in the trash."""
    with database.reading() as session:
        gone = set(session.scalars(select(model.incarnation).distinct()))
        gone.difference_update(session.scalars(select(INCARNATION)))
        gone.difference_update(session.scalars(select(DeletedCollection.incarnation)))
    return sorted(gone)


def prune_codes(database: Database, *, now: datetime, keep_going: Callable[[], None]) -> int:
    """Delete the one-time codes that ended more than 30 days ago, used or not; return their number."""
    return _delete_in_batches(database, EnrolmentCode, EnrolmentCode.expires_at < now - CODES_KEPT, keep_going)


def prune_tags(database: Database, *, keep_going: Callable[[], None]) -> int:
    """Delete the tags that no file has any more; return their number. A file that gets one meanwhile keeps it."""
    is_used = select(file_tag.c.tag_id).where(file_tag.c.tag_id == Tag.id).exists()
    return _delete_in_batches(database, Tag, ~is_used, keep_going)


def _is_awaited() -> ColumnElement[bool]:
    """Return the condition that a subscription has not got an event yet."""
    return select(Subscription.name).where(Subscription.position < Event.position).exists()


def _is_delivered() -> ColumnElement[bool]:
    """Return the condition that each subscription has got an event, and that it is not parked for one."""
    is_parked = select(ParkedEvent.id).where(ParkedEvent.event_id == Event.id).exists()
    return Event.position.is_not(None) & ~_is_awaited() & ~is_parked


def _delete_in_batches(
    database: Database, model: type[Base], condition: ColumnElement[bool], keep_going: Callable[[], None]
) -> int:
    """Delete rows in short transactions, so that no writer waits long."""
    row_id: Any = model.__mapper__.primary_key[0]
    deleted = 0
    while True:
        keep_going()
        with database.reading() as session:
            ids = session.scalars(select(row_id).where(condition).order_by(row_id).limit(BATCH)).all()
        if not ids:
            return deleted
        removed = database.execute(delete(model).where(row_id.in_(ids), condition))
        deleted += removed
        if not removed:  # each of them got a reader meanwhile
            return deleted
