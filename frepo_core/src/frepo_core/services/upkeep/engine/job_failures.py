"""Decides when a job counts as failing, and records the events about that."""

from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy.orm import Session

from frepo_core.db.models import JobRun, JobState
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Actor

from ...events.recording import NewEvent, record

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
