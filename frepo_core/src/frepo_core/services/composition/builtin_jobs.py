"""The built-in jobs, and all jobs with their schedules."""

from collections.abc import Callable, Sequence
from functools import partial

from frepo_core.db.statistics import refresh_statistics
from frepo_core.errors import ConfigurationError
from frepo_core.plugins import Job, JobContext, hookimpl
from frepo_core.plugins.discovery import describe_core
from frepo_core.plugins.registry import make_contexts
from frepo_core.settings import Settings, load_job_schedules

from ..backups.collections.problem_reports import end_problems_of_others
from ..backups.holds.pins import end_pins
from ..events.subscriptions import list_subscriptions
from ..upkeep.engine.job_catalog import ScheduledJob, schedule_jobs
from ..upkeep.engine.job_runs import POSTPONED, was_stopped
from .core_services import CoreServices
from .features import BuiltinJob, Summary
from .storage_jobs import end_trash, job_actor, sweep_storages, verify_blobs


def remove_tokens(services: CoreServices, context: JobContext) -> Summary:
    """Remove the tokens that have expired."""
    return {"removed": len(services.tokens.clear_expired(by=job_actor("tokens")))}


def unpin_ended(services: CoreServices, context: JobContext) -> Summary:
    """Unpin the versions whose pin has an end that is over."""
    by = job_actor("pins")
    return {"unpinned": end_pins(services.database, now=context.now, by=by, keep_going=context.check_lease)}


def retain_locked(services: CoreServices, context: JobContext) -> Summary:
    """Tell the storages until when they keep the bytes of locked versions, as far as they can do that.

    Raises `StorageUnavailable` at the end if some were not retained.
    """
    return {"retained": services.retention.retain_all(context.check_lease)}


def prune(services: CoreServices, context: JobContext) -> Summary:
    """Delete events older than `events.keep` that all subscribers have got, and runs of jobs older than 90 days.

    The runs that clients have reported are deleted after `events.keep`, too, and one-time codes
    30 days after their end. So are tags that no file has. Problems that uninstalled plug-ins have reported end.

    Names the subscriptions whose subscriber does not exist any more: their events are kept.
    """
    from ..upkeep.pruning import (
        prune_codes,
        prune_events,
        prune_job_runs,
        prune_restore_choices,
        prune_runs,
        prune_tags,
    )

    database, now, keep_going = services.database, context.now, context.check_lease
    keep = services.settings.events_keep
    summary = {
        **prune_events(database, keep=keep, now=now, keep_going=keep_going),
        "job_runs": prune_job_runs(database, now=now, keep_going=keep_going),
        "runs": prune_runs(database, keep=keep, now=now, keep_going=keep_going),
        "codes": prune_codes(database, now=now, keep_going=keep_going),
        "restore_choices": prune_restore_choices(database, keep_going=keep_going),
        "tags": prune_tags(database, keep_going=keep_going),
        "problems": end_problems_of_others(
            database, [plugin.name for plugin in services.plugins.found], by=job_actor("events"), keep_going=keep_going
        ),
    }
    names = [each.name for each in list_subscriptions(database)]
    if gone := [name for name in names if name not in services.plugins.subscribers]:
        advice = (
            f"No plug-in has the subscribers {', '.join(gone)} any more. Events that they have not got are kept: "
            "install the package or configure the target again, or end the subscription with `frepo events:unsubscribe "
            "NAME`"
        )
        context.log.warning("the job events: %s", advice)
        summary |= {"gone": gone, "advice": advice}
    return summary


def maintain_database(services: CoreServices, context: JobContext) -> Summary:
    """Let the database refresh its statistics about the tables, from which it plans its queries."""
    return {"tables": refresh_statistics(services.database, keep_going=context.check_lease)}


def report(services: CoreServices, context: JobContext) -> Summary:
    """Write an event for each collection whose backup became overdue, and for each that has recovered."""
    from ..upkeep.overdue_events import report_overdue

    return report_overdue(services.database, now=context.now, by=job_actor("overdue"), keep_going=context.check_lease)


def rotate_unjudged(services: CoreServices, context: JobContext) -> Summary:
    """Let rotation go on for versions that have waited for their verdict for longer than `checks.patience`.

    If no worker has run for that long, no check had a chance to judge them: they wait until the next turn.
    """
    if was_stopped(services.database, "unjudged", since=context.now - services.settings.checks_patience):
        return {"rotated": 0, POSTPONED: True}
    unjudged = services.unjudged_versions
    return {"rotated": unjudged.end_waiting(now=context.now, by=job_actor("unjudged"), keep_going=context.check_lease)}


BUILTIN_JOBS = (
    BuiltinJob(
        name="verify",
        schedule="15 2 * * *",
        lane="long",
        summary="Read blobs that were not checked for 30 days, and mark damage",
        work=verify_blobs,
    ),
    BuiltinJob(
        name="sweep",
        schedule="45 3 * * *",
        lane="long",
        summary="Delete blobs without a record, older than 48 hours",
        work=sweep_storages,
    ),
    BuiltinJob(
        name="overdue",
        schedule="every 1m",
        lane="short",
        summary="Report collections whose backup is overdue",
        work=report,
    ),
    BuiltinJob(name="tokens", schedule="every 1h", lane="short", summary="Remove expired tokens", work=remove_tokens),
    BuiltinJob(
        name="trash",
        schedule="every 10m",
        lane="short",
        summary="End what was in the trash for its time, or early if the storage is full",
        work=end_trash,
    ),
    BuiltinJob(
        name="pins", schedule="every 10m", lane="short", summary="Unpin versions whose pin is over", work=unpin_ended
    ),
    BuiltinJob(
        name="retention",
        schedule="every 10m",
        lane="short",
        summary="Retain the bytes of locked versions in the storages that can",
        work=retain_locked,
    ),
    BuiltinJob(
        name="unjudged",
        schedule="every 1h",
        lane="short",
        summary="Rotate versions in whose verdict is late",
        work=rotate_unjudged,
    ),
    BuiltinJob(
        name="events", schedule="30 4 * * *", lane="short", summary="Delete old events and records of jobs", work=prune
    ),
    BuiltinJob(
        name="database",
        schedule="0 5 * * 0",
        lane="long",
        summary="Refresh the statistics of the database",
        work=maintain_database,
    ),
)


class CoreJobs:
    """A plug-in that offers the built-in jobs by the hook that others use, too."""

    def __init__(self, services: CoreServices) -> None:
        self._services = services

    @hookimpl
    def frepo_jobs(self) -> Sequence[Job]:
        """Return the built-in jobs."""
        return upkeep_jobs(self._services)


def upkeep_jobs(services: CoreServices) -> list[Job]:
    """Return the built-in jobs of a service, and those of its features. In read-only mode they change nothing."""
    jobs = [*BUILTIN_JOBS, *(job for feature in services.features for job in feature.jobs)]
    return [
        Job(
            name=job.name,
            schedule=job.schedule if job.is_on(services) else "off",
            lane=job.lane,
            summary=job.summary,
            run=partial(_run, services, job.work),
        )
        for job in jobs
    ]


def collect_jobs(services: CoreServices) -> dict[str, ScheduledJob]:
    """Return all jobs by their names, also those of plug-ins, with their schedules.

    Raises `ConfigurationError` for a schedule that is not valid, and for a job of a plug-in with the name of an own
    one.
    """
    plugins = services.plugins
    own = describe_core(CoreJobs(services))
    (context,) = make_contexts([own], {}, services.facade_of).values()
    jobs = {job.name: (job, context) for job in own.configured(context).jobs}
    for name, owned in plugins.jobs.items():
        if name in jobs or f"jobs_{name}" in Settings.model_fields:
            raise ConfigurationError(f"{owned.plugin.origin} names a job {name!r}, a name that frepo uses. Rename it.")
        jobs[name] = (owned.spec, services.contexts[owned.plugin.name])
    may_be_unknown = bool(services.settings.plugins_disabled)
    schedules = load_job_schedules(jobs, services.ini, services.environment, may_be_unknown=may_be_unknown)
    return schedule_jobs(jobs.values(), schedules, services.settings.jobs_timezone)


def _run(services: CoreServices, work: Callable[[CoreServices, JobContext], Summary], context: JobContext) -> Summary:
    if services.settings.read_only:
        return {"skipped": "the service is in read-only mode"}
    return work(services, context)
