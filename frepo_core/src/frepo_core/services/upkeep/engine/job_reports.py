"""Reports on jobs: when each ran last, what it found, since when it fails, and when it is due next."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db.models import JobRun, JobState

from .job_runs import RunRecord, find_last_run


@dataclass(frozen=True, kw_only=True)
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
    return [_report(session, state) for state in session.scalars(select(JobState).order_by(JobState.name)).all()]


def _report(session: Session, state: JobState) -> JobReport:
    last = find_last_run(session, state.name)
    # While the job runs again, the error is that of the run before.
    failed = find_last_run(session, state.name, JobRun.error.is_not(None)) if state.failing_since else None
    good = last if last and _is_good(last) else _last_good_run(session, state.name)
    return JobReport(
        name=state.name,
        started_at=last.started_at if last else None,
        ended_at=last.ended_at if last else None,
        outcome=last.outcome if last else None,
        found=last.summary if last else None,
        error=failed.error if failed else None,
        failing_since=state.failing_since,
        next_at=state.next_at,
        last_success=good.started_at if good else None,
    )


def _is_good(run: RunRecord) -> bool:
    return run.error is None and run.ended_at is not None


def _last_good_run(session: Session, name: str) -> RunRecord | None:
    return find_last_run(session, name, JobRun.error.is_(None), JobRun.ended_at.is_not(None))
