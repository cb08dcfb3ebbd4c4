"""A lane: runs its jobs when they are due, one at a time."""

import logging
from collections.abc import Mapping

from frepo_core.db import Database

from ...base.lease import Lease
from .job_catalog import ScheduledJob
from .job_requests import RequestRecord, find_requests, store_request, take_request
from .job_runner import JobRunner
from .job_runs import SCHEDULE, Outcome, begin_run, drop_run, end_lost_runs, find_running
from .job_turns import Turn, claim_turn, find_turns, repeat_turn

log = logging.getLogger(__name__)

# Clocks may be set, and a command or a request may run a job.
POLL_SECONDS = 5.0
BUSY_SECONDS = 5.0


def lease_name(lane: str) -> str:
    """Return the name of the lease that a process needs to run a job of this lane."""
    return f"lane:{lane}"


class Lane:
    """The jobs of one lane. One thread calls `step` again and again while this process leads."""

    def __init__(
        self, database: Database, name: str, jobs: Mapping[str, ScheduledJob], *, lease: Lease, runner: JobRunner
    ) -> None:
        self.name = name
        self._database = database
        self._jobs = {job_name: each for job_name, each in jobs.items() if each.job.lane == name}
        self._lease = lease
        self._runner = runner

    def step(self, epoch: int) -> float:
        """Run the job requested first, else the one due for the longest time. Return the seconds until the next call.

        A running job continues if this process loses the lead: the lease of the lane prevents other jobs of the lane.
        """
        now = self._database.now()
        turns = find_turns(self._database, self._jobs, now)
        due = turns[0] if turns and turns[0].at <= now else None
        request = next(iter(find_requests(self._database, self._jobs)), None)
        if due is None and request is None and find_running(self._database, self.name) is None:
            return min(POLL_SECONDS, (turns[0].at - now).total_seconds()) if turns else POLL_SECONDS
        if not self._lease.try_acquire():
            return BUSY_SECONDS
        try:
            if end_lost_runs(self._database, self.name, self._lease.epoch, now):
                log.warning("a job of the lane %s was lost; `frepo jobs` shows it", self.name)
            if request is not None:
                self._run_requested(request)
            elif due is not None:
                self._run(due)
        finally:
            self._lease.release()
        return 0.0

    def finish(self) -> None:
        """Do nothing: there is nothing to store."""

    def _run(self, turn: Turn) -> None:
        now = self._database.now()
        name = turn.scheduled.name
        run_id = begin_run(self._database, name, self.name, self._lease, cause=SCHEDULE, now=now)
        if not claim_turn(self._database, turn, now):
            drop_run(self._database, run_id)
            return
        result = self._runner.run(turn.scheduled, self._lease, run_id, now)
        if result.outcome is Outcome.INTERRUPTED:
            repeat_turn(self._database, name, now)

    def _run_requested(self, request: RequestRecord) -> None:
        """Run a requested job. Its schedule does not change. A run that is interrupted is requested again."""
        now = self._database.now()
        by = request.requested_by
        run_id = begin_run(self._database, request.name, self.name, self._lease, cause=by, now=now)
        if not take_request(self._database, request):
            drop_run(self._database, run_id)
            return
        result = self._runner.run(self._jobs[request.name], self._lease, run_id, now)
        if result.outcome is Outcome.INTERRUPTED:
            store_request(self._database, request.name, by, now)
