"""Writes runs of the nightly jobs, of which one has failed, so that their history has something to show."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

from sqlalchemy import insert
from sqlalchemy.orm import Session

from frepo_core.db import Database
from frepo_core.db.models import JobRun
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Actor
from frepo_core.services.events.recording import NewEvent
from frepo_core.services.upkeep.engine.job_runs import SCHEDULE, Outcome

from .catalogue import DAY

NIGHTS = 30
_FAILED_NIGHTS_AGO = 11
_ERROR = "The storage did not answer for 60 seconds"
_HOLDER = "demonstration"


@dataclass(frozen=True, kw_only=True)
class _Nightly:
    """A job that runs each night at a time (UTC), for some seconds. `found` are the maxima of what it reports."""

    name: str
    lane: str
    at: timedelta
    seconds: float
    found: Mapping[str, int]


_JOBS = (
    _Nightly(name="samples", lane="short", at=timedelta(minutes=5), seconds=0.4, found={}),
    _Nightly(
        name="verify", lane="long", at=timedelta(hours=2, minutes=15), seconds=38, found={"checked": 60, "damaged": 0}
    ),
    _Nightly(
        name="sweep", lane="long", at=timedelta(hours=3, minutes=45), seconds=11, found={"orphans": 4, "unused": 2}
    ),
    _Nightly(name="events", lane="short", at=timedelta(hours=4, minutes=30), seconds=0.2, found={"events": 90}),
)


_VERIFY = _JOBS[1]


def write_job_runs(database: Database, now: datetime, random: Random) -> int:
    """Write the runs of the last nights, without those of today; return their number."""
    nights = list(_nights(now))
    rows = [_row(job, night, random) for night in nights for job in _JOBS]
    failed = rows[_JOBS.index(_VERIFY) - _FAILED_NIGHTS_AGO * len(_JOBS)]
    failed |= {"outcome": Outcome.FAILED.value, "summary": None, "error": _ERROR}

    def work(session: Session) -> None:
        session.execute(insert(JobRun), rows)

    database.write(work)
    return len(rows)


def job_events(now: datetime) -> Iterator[tuple[datetime, NewEvent]]:
    """Yield the events about the run that failed, and about the night after it, with their times."""
    nights = list(_nights(now))
    for kind, night, data in (
        (EventKind.JOB_FAILED, nights[-_FAILED_NIGHTS_AGO], {"error": _ERROR}),
        (EventKind.JOB_RECOVERED, nights[-_FAILED_NIGHTS_AGO + 1], {}),
    ):
        started_at = night + _VERIFY.at
        about = {"job": _VERIFY.name, "started_at": started_at.isoformat(), **data}
        ended_at = started_at + timedelta(seconds=_VERIFY.seconds)
        yield ended_at, NewEvent(kind=kind, by=Actor(name=f"system:{_VERIFY.name}"), data=about)


def _nights(now: datetime) -> Iterator[datetime]:
    """Yield the midnights before the nights that the history tells about, the oldest first."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return (midnight - ago * DAY for ago in range(NIGHTS, 0, -1))


def _row(job: _Nightly, night: datetime, random: Random) -> dict[str, Any]:
    seconds = job.seconds * random.uniform(0.8, 1.3)
    return {
        "name": job.name,
        "lane": job.lane,
        "epoch": 0,
        "holder": _HOLDER,
        "cause": SCHEDULE,
        "started_at": night + job.at,
        "ended_at": night + job.at + timedelta(seconds=seconds),
        "outcome": Outcome.GOOD.value,
        "summary": {name: random.randrange(most + 1) for name, most in job.found.items()},
        "error": None,
    }
