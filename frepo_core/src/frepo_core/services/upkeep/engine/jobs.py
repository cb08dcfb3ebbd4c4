"""The jobs as operators see them: their schedules, their runs, and a run on request."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from frepo_core.db import Database
from frepo_core.domain.identity import By, describe_actor
from frepo_core.domain.structs import struct
from frepo_core.errors import FrepoError, NotFoundError
from frepo_core.plugins import JobContext

from ...access.visibility.job_output import HIDDEN_OUTPUT, sees_output
from ...base.keyset import Page, PageRequest
from ...base.lease import Lease, LeaseTerms, make_holder
from ...events.actors import actor_of
from ...events.masking import Mask
from .job_catalog import ScheduledJob
from .job_requests import RequestRecord, find_requests, store_request
from .job_runner import JobRunner, RunResult
from .job_runs import RunRecord, begin_run, end_lost_runs, find_last_runs, find_running, list_runs, page_runs
from .job_turns import find_turns
from .lane import lease_name

log = logging.getLogger(__name__)

# A command waits this many seconds for a lane: a lease whose holder died is taken after a while of watching it.
WAIT_SECONDS = 15.0
POLL_SECONDS = 0.5


class JobBusyError(FrepoError):
    """Another job of the same lane runs."""


@struct
class JobStatus:
    """A job with its next time, its latest run, and the request for a run that has not begun.

    `next_at` is None if it is off.
    """

    scheduled: ScheduledJob
    next_at: datetime | None
    last_run: RunRecord | None
    request: RequestRecord | None


class Jobs:
    """Lists jobs and runs them. The worker runs them when they are due."""

    def __init__(
        self, database: Database, scheduled: Mapping[str, ScheduledJob], *, mask: Mask, terms: LeaseTerms
    ) -> None:
        self.scheduled = scheduled
        self._database = database
        self._mask = mask
        self._terms = terms

    def statuses(self, *, by: By = None) -> list[JobStatus]:
        """Return all jobs, sorted by name. `by` sees the output of their runs as `visible_run` says."""
        now = self._database.now()
        turns = {turn.scheduled.name: turn.at for turn in find_turns(self._database, self.scheduled, now, stores=False)}
        with self._database.reading() as session:
            runs = find_last_runs(session, self.scheduled)
        requests = {one.name: one for one in find_requests(self._database, self.scheduled)}
        return [
            JobStatus(
                scheduled=scheduled,
                next_at=turns.get(name),
                last_run=visible_run(runs[name], by) if name in runs else None,
                request=requests.get(name),
            )
            for name, scheduled in sorted(self.scheduled.items())
        ]

    def runs(self, name: str, limit: int) -> list[RunRecord]:
        """Return the latest runs of a job, the latest first. Raises `NotFoundError` for an unknown name."""
        return list_runs(self._database, self._find(name).name, limit)

    def run_page(self, name: str, page: PageRequest, *, by: By = None) -> Page[RunRecord]:
        """Return a page of the runs of a job, the latest first, with the output as `visible_run` says.

        Raises `NotFoundError` for an unknown name.
        """
        found = page_runs(self._database, self._find(name).name, page)
        return Page(items=[visible_run(one, by) for one in found.items], next=found.next)

    def request(self, name: str, *, by: By) -> RequestRecord:
        """Request a run, which the worker that leads begins within seconds, also of a job that is off.

        Raises `NotFoundError` for an unknown name.
        """
        request = store_request(self._database, self._find(name).name, actor_of(by), self._database.now())
        log.info("job %s: requested by %s", name, describe_actor(by))
        return request

    def run(
        self, name: str, *, cause: str, wait: float = WAIT_SECONDS, work: Callable[[JobContext], Any] | None = None
    ) -> RunResult:
        """Run a job in this thread, or `work` in its place. Its schedule does not change.

        Waits at most `wait` seconds while another job of its lane runs. Raises `NotFoundError` for an unknown name, and
        `JobBusyError` if the lane is still busy.
        """
        scheduled = self._find(name)
        if work is not None:
            scheduled = replace(scheduled, job=replace(scheduled.job, run=work))
        lane = scheduled.job.lane
        lease = Lease(self._database, lease_name(lane), holder=make_holder(), terms=self._terms)
        self._acquire(lease, lane, time.monotonic() + wait)
        try:
            now = self._database.now()
            end_lost_runs(self._database, lane, lease.epoch, now)
            run_id = begin_run(self._database, name, lane, lease, cause=cause, now=now)
            return JobRunner(self._database, self._mask).run(scheduled, lease, run_id, now)
        finally:
            lease.release()

    def _acquire(self, lease: Lease, lane: str, deadline: float) -> None:
        while not lease.try_acquire():
            if time.monotonic() >= deadline:
                raise JobBusyError(f"{self._describe_busy(lane)}; one job of each lane runs at a time. Try again later")
            time.sleep(POLL_SECONDS)

    def _describe_busy(self, lane: str) -> str:
        running = find_running(self._database, lane)
        if running is None:
            return f"The lane {lane!r} is busy"
        return f"The job {running.name!r} runs since {running.started_at:%Y-%m-%d %H:%M:%S} UTC in the lane {lane!r}"

    def _find(self, name: str) -> ScheduledJob:
        if name not in self.scheduled:
            raise NotFoundError(f"There is no job {name!r}. Jobs: {', '.join(sorted(self.scheduled)) or 'none'}")
        return self.scheduled[name]


def visible_run(run: RunRecord, by: By) -> RunRecord:
    """Return the run as the token sees it: without the texts that the job wrote, if those are not for it."""
    if sees_output(by):
        return run
    return replace(
        run,
        progress=run.progress and HIDDEN_OUTPUT,
        error=run.error and HIDDEN_OUTPUT,
        summary=None if run.summary is None else _figures(run.summary),
    )


def _figures(summary: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in summary.items() if isinstance(value, int | float)}
