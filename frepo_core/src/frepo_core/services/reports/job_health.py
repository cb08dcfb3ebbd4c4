"""What `/health` says about the worker and its jobs: what is wrong with them."""

from collections.abc import Iterable
from datetime import timedelta

from sqlalchemy import select

from frepo_core.db import Database, utc_now
from frepo_core.db.models import JobRun, Lease
from frepo_core.errors import FrepoError

from ..base.lease import LEADER
from ..upkeep.engine.job_reports import JobReport

# A new leader takes over within 40 seconds.
LEADERLESS = timedelta(seconds=60)
OVERDUE = timedelta(hours=1)
# The jobs without which a service loses data unnoticed, or fills its storage.
ESSENTIAL = ("verify", "sweep")


class JobsFailError(FrepoError):
    """No worker leads, or a job on which the health of the service depends fails or does not run."""


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


def has_ever_led(database: Database) -> bool:
    """Return whether a worker has ever led. None has before the first start, and after a recovery."""
    with database.reading() as session:
        return session.scalar(select(Lease.expires_at).where(Lease.name == LEADER)) is not None


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


def _is_lane_busy(database: Database) -> bool:
    with database.reading() as session:
        query = select(JobRun.id).where(JobRun.lane == "long", JobRun.ended_at.is_(None)).limit(1)
        return session.scalar(query) is not None
