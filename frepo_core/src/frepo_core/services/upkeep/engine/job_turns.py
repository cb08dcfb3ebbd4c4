"""When each job is due next: the rows of the table `job`."""

import contextlib
from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError

from frepo_core.db import Database
from frepo_core.db.models import JobState
from frepo_core.domain.structs import struct

from .job_catalog import ScheduledJob


@struct
class Turn:
    """A time at which a job is due."""

    scheduled: ScheduledJob
    at: datetime


def find_turns(
    database: Database, jobs: Mapping[str, ScheduledJob], now: datetime, *, stores: bool = True
) -> list[Turn]:
    """Return the next turn of each job that is not off, the earliest first.

    A turn is calculated when the job or its schedule is new. A turn that is further away than two turns from now was
    calculated by a clock that was fast, and is moved: the job shall not wait for years, and not run twice in one turn.
    With `stores`, what was calculated is stored.
    """
    with database.reading() as session:
        rows = {row.name: (row.schedule, row.next_at) for row in session.scalars(select(JobState)) if row.name in jobs}
    turns = []
    for name, scheduled in jobs.items():
        known = rows.get(name)
        next_at = _find_turn(scheduled, known, now)
        if stores and known != (str(scheduled.schedule), next_at):
            _store(database, scheduled, next_at, is_new=known is None)
        if next_at is not None:
            turns.append(Turn(scheduled=scheduled, at=next_at))
    return sorted(turns, key=lambda turn: turn.at)


def claim_turn(database: Database, turn: Turn, now: datetime) -> bool:
    """Take a turn: set the next one. Return False if another process was faster.

    The turns that were missed while no worker ran are one turn.
    """
    following = turn.scheduled.schedule.after(now)
    taken = database.execute(
        update(JobState)
        .where(JobState.name == turn.scheduled.name, JobState.next_at == turn.at)
        .values(next_at=following)
    )
    return taken > 0


def repeat_turn(database: Database, name: str, now: datetime) -> None:
    """Make a job due now, because its turn was interrupted."""
    database.execute(update(JobState).where(JobState.name == name, JobState.next_at > now).values(next_at=now))


def _find_turn(scheduled: ScheduledJob, known: tuple[str, datetime | None] | None, now: datetime) -> datetime | None:
    if known is None or known[0] != str(scheduled.schedule):
        return scheduled.schedule.after(now)
    latest = scheduled.schedule.latest_after(now)
    return latest if known[1] is not None and latest is not None and known[1] > latest else known[1]


def _store(database: Database, scheduled: ScheduledJob, next_at: datetime | None, *, is_new: bool) -> None:
    values = {"schedule": str(scheduled.schedule), "next_at": next_at}
    if not is_new:
        database.execute(update(JobState).where(JobState.name == scheduled.name).values(values))
        return
    with contextlib.suppress(IntegrityError):  # another process was faster, and calculated the same
        database.execute(insert(JobState).values(name=scheduled.name, **values))
