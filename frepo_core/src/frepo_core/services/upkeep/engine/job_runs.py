"""The runs of jobs: the rows of the table `job_run`, and how they ended."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, literal, select, union_all, update
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from frepo_core.db import Database
from frepo_core.db.models import JobRun, JobState
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Actor
from frepo_core.domain.structs import struct

from ...base.keyset import Page, PageRequest, cut, paged
from ...base.lease import Lease
from ...events.recording import NewEvent, record

MAX_INTERRUPTED = 100
# The cause of a run that nobody has requested.
SCHEDULE = "schedule"
# In the summary of a run that has left its work to the next one.
POSTPONED = "postponed"
LOST = "The process that ran the job ended, or lost its lease, before the job was done"


# A job that fails each minute is reported once a day; a nightly one, each night.
REPORT_AGAIN = timedelta(hours=23)


class Outcome(StrEnum):
    """How a run ended."""

    GOOD = "good"
    FAILED = "failed"
    INTERRUPTED = "interrupted"  # the process stopped; the job is run again
    LOST = "lost"  # the process died


def note_outcome(session: Session, run: JobRun, now: datetime) -> None:
    """Record `job.failed` when a job begins to fail, and once a day while it does; `job.recovered` afterwards."""
    state = session.get(JobState, run.name)
    data = {"job": run.name, "started_at": run.started_at.isoformat()}
    by = Actor(name=f"system:{run.name}")
    if run.outcome in {Outcome.FAILED, Outcome.LOST}:
        if (
            state is None
            or state.reported_at is None
            or not state.reported_at <= now < state.reported_at + REPORT_AGAIN
        ):
            record(session, NewEvent(kind=EventKind.JOB_FAILED, by=by, data=data | {"error": run.error}))
            if state is not None:
                state.reported_at = now
        if state is not None:
            state.failing_since = state.failing_since or run.started_at
    elif run.outcome == Outcome.GOOD and state is not None and state.failing_since is not None:
        record(session, NewEvent(kind=EventKind.JOB_RECOVERED, by=by, data=data))
        state.failing_since = state.reported_at = None


@struct
class RunRecord:
    """A run of a job. `ended_at` and `outcome` are None while it runs."""

    id: int
    name: str
    lane: str
    holder: str
    cause: str
    started_at: datetime
    ended_at: datetime | None
    outcome: str | None
    progress: str | None
    summary: Mapping[str, Any] | None
    error: str | None


def begin_run(database: Database, name: str, lane: str, lease: Lease, *, cause: str, now: datetime) -> int:
    """Record that a job starts; return the number of the run."""
    run = {"name": name, "lane": lane, "epoch": lease.epoch, "holder": lease.holder, "cause": cause, "started_at": now}

    def work(session: Session) -> int:
        row = JobRun(**run)
        session.add(row)
        session.flush()
        return row.id

    return database.write(work, may_use_reserve=True)


def drop_run(database: Database, run_id: int) -> None:
    """Remove the record of a run that did not start after all."""
    database.execute(delete(JobRun).where(JobRun.id == run_id))


def note_progress(database: Database, run_id: int, text: str) -> None:
    """Store how far a run is."""
    database.execute(update(JobRun).where(JobRun.id == run_id, JobRun.ended_at.is_(None)).values(progress=text[:255]))


def end_run(
    database: Database,
    run_id: int,
    outcome: Outcome,
    *,
    now: datetime,
    summary: Mapping[str, Any] | None = None,
    error: str | None = None,
) -> bool:
    """Record how a run ended, with the event about it.

    Return False, and change nothing, if the run was recorded as lost meanwhile.
    """

    def work(session: Session) -> bool:
        row = session.get(JobRun, run_id, with_for_update=True)
        if row is None or row.ended_at is not None:
            return False
        row.ended_at, row.outcome, row.error = now, outcome.value, error
        row.summary = None if summary is None else dict(summary)
        note_outcome(session, row, now)
        return True

    return database.write(work, may_use_reserve=True)


def end_lost_runs(database: Database, lane: str, epoch: int, now: datetime) -> int:
    """Record the unfinished runs of earlier holders of a lane's lease as lost; return their number."""
    query = select(JobRun.id).where(JobRun.lane == lane, JobRun.ended_at.is_(None), JobRun.epoch < epoch)
    with database.reading() as session:
        lost = session.scalars(query).all()
    return sum(end_run(database, run_id, Outcome.LOST, now=now, error=LOST) for run_id in lost)


def find_running(database: Database, lane: str) -> RunRecord | None:
    """Return the run of the lane that has not ended: it runs, or was lost."""
    with database.reading() as session:
        query = select(JobRun).where(JobRun.lane == lane, JobRun.ended_at.is_(None)).order_by(JobRun.id.desc()).limit(1)
        row = session.scalar(query)
        return make_record(row) if row else None


def last_run_of(name: ColumnElement[str] | InstrumentedAttribute[str], *, is_good: bool | None = None) -> Any:
    """Return the id of the latest run of the job with this name, for a query that has the name in a row.

    With `is_good`, of those that have ended well; with False, of those with an error.
    """
    run = aliased(JobRun)
    query = select(run.id).where(run.name == name).order_by(run.started_at.desc(), run.id.desc()).limit(1)
    if is_good is not None:
        query = (
            query.where(run.error.is_(None), run.ended_at.is_not(None))
            if is_good
            else query.where(run.error.is_not(None))
        )
    return query.correlate_except(run).scalar_subquery()


def find_last_runs(session: Session, names: Iterable[str]) -> Mapping[str, RunRecord]:
    """Return the latest runs of jobs by their names."""
    wanted = union_all(*(select(literal(name).label("name")) for name in names)).subquery()
    is_last = and_(JobRun.name == wanted.c.name, JobRun.id == last_run_of(wanted.c.name))
    query = select(JobRun).join(wanted, is_last)
    return {row.name: make_record(row) for row in session.scalars(query)}


def find_interrupted(database: Database, name: str, *, since: datetime) -> datetime | None:
    """Return when the work of a job began that was interrupted last and since a time; None if it was completed.

    If the runs after an interruption were interrupted, too, that is the start of the first of them.
    """
    began = None
    for run in list_runs(database, name, MAX_INTERRUPTED):
        if run.ended_at is None:
            continue  # this run
        if run.outcome != Outcome.INTERRUPTED or run.started_at < since:
            break
        began = run.started_at
    return began


def was_stopped(database: Database, name: str, *, since: datetime) -> bool:
    """Return whether the run of a job that has begun is the first one since a time, and was not requested.

    It is not if the run before was postponed for this reason: each second run does its work, however rare it is.
    """
    runs = list_runs(database, name, 2)
    if [run.cause for run in runs[:1]] != [SCHEDULE]:
        return False
    return not any(run.started_at >= since or (run.summary or {}).get(POSTPONED) for run in runs[1:])


def list_runs(database: Database, name: str, limit: int) -> list[RunRecord]:
    """Return the latest runs of a job, the latest first."""
    query = select(JobRun).where(JobRun.name == name).order_by(JobRun.started_at.desc(), JobRun.id.desc()).limit(limit)
    with database.reading() as session:
        return [make_record(row) for row in session.scalars(query)]


def page_runs(database: Database, name: str, page: PageRequest) -> Page[RunRecord]:
    """Return a page of the runs of a job, the latest first. Raises `FieldsError` for a wrong cursor."""
    page = replace(page, is_descending=True)
    query = paged(select(JobRun).where(JobRun.name == name), page, [JobRun.started_at, JobRun.id])
    with database.reading() as session:
        found = cut(session.scalars(query).all(), page, lambda row: [row.started_at, row.id])
        return Page(items=[make_record(row) for row in found.items], next=found.next)


def make_record(row: JobRun) -> RunRecord:
    """Return the record of a row."""
    return RunRecord(**{name: getattr(row, name) for name in RunRecord.__dataclass_fields__})
