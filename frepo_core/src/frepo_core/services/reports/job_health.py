"""What `/health` says about the worker and its jobs: when each ran last, what it found, and what is wrong."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import JobRun, JobState, Lease
from frepo_core.errors import FrepoError

from ..base.lease import LEADER

# A new leader takes over within 40 seconds.
LEADERLESS = timedelta(seconds=60)
OVERDUE = timedelta(hours=1)
# The jobs without which a service loses data unnoticed, or fills its storage.
ESSENTIAL = ("verify", "sweep")


class JobsFailError(FrepoError):
    """No worker leads, or a job on which the health of the service depends fails or does not run."""


@dataclass(frozen=True, kw_only=True)
class JobReport:
    """A job: its last run and the time of the next one (UTC). All but the name are None for what has not happened.

    `found` is the summary of the last run. `error` says why it failed. `outcome` is None while it runs.
    """

    name: str
    started_at: datetime | None
    ended_at: datetime | None
    outcome: str | None
    found: Mapping[str, Any] | None
    error: str | None
    failing_since: datetime | None
    next_at: datetime | None


def check_worker(database: Database) -> None:
    """Raise `JobsFailError` if no worker has led in the last minute."""
    with database.reading() as session:
        until = session.scalar(select(Lease.expires_at).where(Lease.name == LEADER))
    if until is None or until < database.now() - LEADERLESS:
        since = f"since {until:%Y-%m-%d %H:%M:%S} UTC" if until else "and none ever has"
        raise JobsFailError(
            f"No worker leads, {since}: no job runs and no event is delivered. Set worker.in_process = true, or run "
            "`frepo worker`"
        )


def report_jobs(database: Database) -> list[JobReport]:
    """Return all jobs that a worker has scheduled, by name."""
    with database.reading() as session:
        states = session.scalars(select(JobState).order_by(JobState.name)).all()
        return [_report(session, state) for state in states]


def check_jobs(database: Database, reports: Iterable[JobReport]) -> None:
    """Raise `JobsFailError` if `verify` or `sweep` fails, or is overdue although no other long job runs."""
    problems = []
    for report in reports:
        if report.name not in ESSENTIAL:
            continue
        if report.failing_since:
            problems.append(
                f"The job {report.name} has failed since {report.failing_since:%Y-%m-%d %H:%M} UTC: {report.error}"
            )
        elif report.next_at and report.next_at < utc_now() - OVERDUE and not _is_lane_busy(database):
            problems.append(f"The job {report.name} was due at {report.next_at:%Y-%m-%d %H:%M} UTC and has not run")
    if problems:
        raise JobsFailError("; ".join(problems))


def _report(session: Session, state: JobState) -> JobReport:
    runs = select(JobRun).where(JobRun.name == state.name).order_by(JobRun.started_at.desc(), JobRun.id.desc())
    last = session.scalar(runs.limit(1))
    # While the job runs again, the error is that of the run before.
    failed = session.scalar(runs.where(JobRun.error.is_not(None)).limit(1)) if state.failing_since else None
    return JobReport(
        name=state.name,
        started_at=last.started_at if last else None,
        ended_at=last.ended_at if last else None,
        outcome=last.outcome if last else None,
        found=last.summary if last else None,
        error=failed.error if failed else None,
        failing_since=state.failing_since,
        next_at=state.next_at,
    )


def _is_lane_busy(database: Database) -> bool:
    with database.reading() as session:
        query = select(JobRun.id).where(JobRun.lane == "long", JobRun.ended_at.is_(None)).limit(1)
        return session.scalar(query) is not None
