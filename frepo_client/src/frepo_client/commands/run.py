"""`frepo-client run`: make the backups of the configuration."""

from __future__ import annotations

import argparse
import contextlib
import time

from ..configuration.file import Job, WrongJob
from ..errors import ClientError, UsageError, worst
from ..jobs import JobRunner, delay_of
from ..state import locked
from ..uploads.run_reports import RunReports
from . import token
from .context import Context


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("jobs", nargs="*", metavar="JOB", help="default: all")
    parser.add_argument("--now", action="store_true", help="do not wait for this host's minute within `spread`")
    parser.add_argument("--strict", action="store_true", help="exit status 10 if nothing is known about the content")


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Run the jobs one after the other. The exit status is the worst one."""
    known, wrong = context.configuration.jobs, context.configuration.wrong_jobs
    names = arguments.jobs or [*known, *wrong]
    for name in names:
        if name not in known and name not in wrong:
            raise UsageError(f"there is no [job.{name}]; the jobs are {', '.join(sorted([*known, *wrong])) or 'none'}")
    if not names:
        raise UsageError("the configuration has no jobs; write [job.shop] with collection and command")
    jobs = [known[name] for name in names if name in known]
    if not arguments.now:
        _wait(context, max((delay_of(job) for job in jobs), default=0.0))
    context = _end_rotation(context)
    statuses = [_refuse(context, wrong[name]) for name in names if name in wrong]
    return worst([*statuses, *(_run(context, job, strict=arguments.strict) for job in jobs)])


def _end_rotation(context: Context) -> Context:
    """Complete a rotation of the token that got no answer. If that fails, the old token is used."""
    try:
        return token.rotate(context) if token.is_interrupted(context) else context
    except (ClientError, OSError) as error:
        context.reporter.fail(f"the token could not be replaced: {error}")
        return context


def _wait(context: Context, seconds: float) -> None:
    if seconds:
        context.reporter.say(f"this host begins in {seconds:.0f} s; --now begins at once")
        time.sleep(seconds)


def _refuse(context: Context, job: WrongJob) -> int:
    """Say and report what is wrong with a job, and return its exit status."""
    values = {"job": job.name, "collection": job.collection, "error": str(job.error), "status": job.error.status}
    context.reporter.fail(f"{job.name}: {job.error}", values)
    if job.collection:
        reports = RunReports(context.api(), context.reporter)
        with contextlib.suppress(ClientError), reports.reported(job.collection):
            raise job.error
    return job.error.status


def _run(context: Context, job: Job, *, strict: bool) -> int:
    with locked(f"{context.url} {job.name}", context.reporter.fail) as is_free:
        if not is_free:
            context.reporter.fail(f"{job.name}: the run before has not ended; this one is skipped")
            return 0
        return JobRunner(context.api(job.options), context.reporter, strict=strict).run(job)
