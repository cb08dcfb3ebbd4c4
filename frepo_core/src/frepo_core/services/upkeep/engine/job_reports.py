"""Reports on jobs: when each ran last, what it found, since when it fails, and when it is due next."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, select
from sqlalchemy.orm import Session, aliased

from frepo_core.db.models import JobRun, JobState
from frepo_core.domain.structs import struct

from .job_runs import last_run_of


@struct
class JobReport:
    """A job: its last run and the time of the next one (UTC). All but the name are None for what has not happened.

    `found` is the summary of the last run. `error` says why it failed. `outcome` is None while it runs. `last_success`
    is when the last good run began.
    """

    name: str
    started_at: datetime | None
    ended_at: datetime | None
    outcome: str | None
    found: Mapping[str, Any] | None
    error: str | None
    failing_since: datetime | None
    next_at: datetime | None
    last_success: datetime | None


def report_jobs(session: Session) -> list[JobReport]:
    """Return all jobs that a worker has scheduled, by name."""
    last, failed, good = aliased(JobRun), aliased(JobRun), aliased(JobRun)
    query = (
        select(JobState, last, failed.error, good.started_at)
        .select_from(JobState)
        .outerjoin(last, _is_last(last))
        .outerjoin(failed, and_(JobState.failing_since.is_not(None), _is_last(failed, is_good=False)))
        .outerjoin(good, _is_last(good, is_good=True))
        .order_by(JobState.name)
    )
    return [_report(*row) for row in session.execute(query)]


def _is_last(run: Any, *, is_good: bool | None = None) -> ColumnElement[bool]:
    return and_(run.name == JobState.name, run.id == last_run_of(JobState.name, is_good=is_good))


def find_failing_jobs(session: Session) -> list[str]:
    """Return the names of the jobs whose last run failed."""
    query = select(JobState.name).where(JobState.failing_since.is_not(None)).order_by(JobState.name)
    return list(session.scalars(query))


def _report(state: JobState, last: JobRun | None, error: str | None, last_success: datetime | None) -> JobReport:
    return JobReport(
        name=state.name,
        started_at=last.started_at if last else None,
        ended_at=last.ended_at if last else None,
        outcome=last.outcome if last else None,
        found=last.summary if last else None,
        error=error,  # while the job runs again, that of the run before
        failing_since=state.failing_since,
        next_at=state.next_at,
        last_success=last_success,
    )
