"""Commands for jobs."""

import argparse
from typing import TYPE_CHECKING, Any

from frepo_core.errors import FieldsError

from ...columns import Moment, Report, outcome_of
from ...tables import ListCommand, ShowCommand

if TYPE_CHECKING:
    from frepo_core.services.upkeep.engine.job_runs import RunRecord
    from frepo_core.services.upkeep.engine.jobs import JobStatus

JOB_COLUMNS = ("Job", "Schedule", "Next", "Last run", "Outcome", "Result", "What it does")
RUN_COLUMNS = ("Run", "Started", "Ended", "Outcome", "Result", "Cause", "Process")
MAX_RUNS = 1000


class ListJobs(ListCommand):
    """List the jobs: when each is due, when it ran last, and what it found; or the latest runs of one job."""

    long = frozenset({"Schedule", "What it does", "Cause", "Process"})
    examples = (
        "frepo jobs",
        "frepo jobs verify --limit 5 -f json",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("job", nargs="?", metavar="JOB", help="list the latest runs of this job")
        parser.add_argument("--limit", type=int, default=20, metavar="N", help="number of runs; default: 20")

    def take_action(self, arguments: argparse.Namespace) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Return a row for each job, or for each run."""
        if not 1 <= arguments.limit <= MAX_RUNS:
            raise FieldsError({"limit": [f"must be at least 1 and at most {MAX_RUNS}"]})
        jobs = self.services().jobs
        if arguments.job is None:
            return JOB_COLUMNS, [self._job_row(status) for status in jobs.statuses()]
        return RUN_COLUMNS, [self._run_row(run) for run in jobs.runs(arguments.job, arguments.limit)]

    def _job_row(self, status: "JobStatus") -> tuple[Any, ...]:
        run = status.last_run
        return (
            status.scheduled.name,
            str(status.scheduled.schedule),
            Moment(status.next_at),
            Moment(run.started_at if run else None),
            self.word(outcome_of(run.outcome, run.summary) if run else ""),
            _result(run) if run else Report({}),
            status.scheduled.job.summary,
        )

    def _run_row(self, run: "RunRecord") -> tuple[Any, ...]:
        outcome = self.word(outcome_of(run.outcome, run.summary))
        return run.id, Moment(run.started_at), Moment(run.ended_at), outcome, _result(run), run.cause, run.holder


class RunJob(ShowCommand):
    """Run a job now, also one that is off; print its result.

    The outcome is `problem` if something of it could not be done, and is tried again. Exit status 1 then, and if the
    job fails. It is `waiting` if the job does nothing at this hour.
    """

    examples = ("frepo jobs:run samples",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("job", metavar="JOB", help="`frepo jobs` lists them")
        parser.add_argument(
            "--wait",
            type=float,
            default=15.0,
            metavar="SECONDS",
            help="how long to wait while another job of its lane runs; default: 15",
        )

    def take_action(self, arguments: argparse.Namespace) -> tuple[tuple[str, ...], tuple[Any, ...]]:
        from frepo_core.services.events.actors import console_actor

        result = self.services().jobs.run(arguments.job, cause=console_actor().name, wait=arguments.wait)
        summary = result.summary or {}
        outcome = outcome_of(result.outcome, summary)
        self._is_good = outcome in {"good", "waiting"}
        rows = {"job": arguments.job, "outcome": self.word(outcome)} | Report(summary).cells()
        if result.error:
            rows["error"] = result.error
        return tuple(rows), tuple(rows.values())

    def run(self, arguments: argparse.Namespace) -> int:
        """Return 1 if the job failed."""
        status = int(super().run(arguments))
        return status or int(not self._is_good)


def _result(run: "RunRecord") -> Report:
    """Return the summary; the error, if the job failed; how far it is, if it runs."""
    if run.error:
        return Report({"error": run.error})
    if run.ended_at is None:
        return Report({"progress": run.progress} if run.progress else {})
    return Report(run.summary or {})
