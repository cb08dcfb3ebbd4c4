"""The built-in jobs."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from frepo_core.db.statistics import refresh_statistics
from frepo_core.plugins import Job, JobContext, hookimpl

from ..backups.holds.pins import end_pins
from ..backups.restore.nightly_tests import RestoreFailedError
from ..events.subscriptions import list_subscriptions
from ..reports.samples import take_samples
from ..upkeep.engine.job_runs import POSTPONED, find_interrupted, was_stopped
from ..upkeep.overdue_events import report_overdue
from ..upkeep.pruning import prune_codes, prune_events, prune_job_runs, prune_runs, prune_tags
from .core_services import CoreServices
from .journal_jobs import write_catalogue, write_journal
from .storage_jobs import (
    Summary,
    compact,
    end_trash,
    job_actor,
    mirror,
    move_collections,
    sweep_storages,
    verify_blobs,
)


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
    30 days after their end. So are tags that no file has.

    Names the subscriptions whose subscriber does not exist any more: their events are kept.
    """
    database, now, keep_going = services.database, context.now, context.check_lease
    keep = services.settings.events_keep
    summary = {
        **prune_events(database, keep=keep, now=now, keep_going=keep_going),
        "job_runs": prune_job_runs(database, now=now, keep_going=keep_going),
        "runs": prune_runs(database, keep=keep, now=now, keep_going=keep_going),
        "codes": prune_codes(database, now=now, keep_going=keep_going),
        "tags": prune_tags(database, keep_going=keep_going),
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


def sample(services: CoreServices, context: JobContext) -> Summary:
    """Record the size of each collection and of the service."""
    return take_samples(services.database, now=context.now)


def report(services: CoreServices, context: JobContext) -> Summary:
    """Write an event for each collection whose backup became overdue, and for each that has recovered."""
    return report_overdue(services.database, now=context.now, by=job_actor("overdue"), keep_going=context.check_lease)


def rotate_unjudged(services: CoreServices, context: JobContext) -> Summary:
    """Let rotation go on for versions that have waited for their verdict for longer than `checks.patience`.

    If no worker has run for that long, no check had a chance to judge them: they wait until the next turn.
    """
    if was_stopped(services.database, "unjudged", since=context.now - services.settings.checks_patience):
        return {"rotated": 0, POSTPONED: True}
    unjudged = services.unjudged_versions
    return {"rotated": unjudged.end_waiting(now=context.now, by=job_actor("unjudged"), keep_going=context.check_lease)}


def test_restores(services: CoreServices, context: JobContext) -> Summary:
    """Test whether versions can be restored, one of each collection, until `restore_tests.window` is over.

    A run that follows an interrupted one continues it, and ends when that would have ended. Raises `RestoreFailedError`
    at the end if one cannot be restored, or if its test could not be completed.
    """
    began = find_interrupted(
        services.database, "restore_tests", since=context.now - services.settings.restore_tests_window
    )
    night = services.nightly_tests.run(
        began=began or context.now,
        now=context.now,
        by=job_actor("restore_tests"),
        keep_going=context.check_lease,
        progress=context.progress,
    )
    if night.problems:
        raise RestoreFailedError(night.describe_problems())
    return {
        "good": night.good,
        "untestable": night.untestable,
        "left": night.left,
        "size": night.size,
        "seconds": round(night.seconds, 1),
    }


# Name, schedule, lane, what it does, and the function.
UPKEEP_JOBS: tuple[tuple[str, str, Any, str, Callable[[CoreServices, JobContext], Summary]], ...] = (
    ("verify", "15 2 * * *", "long", "Read blobs that were not checked for 30 days, and mark damage", verify_blobs),
    ("sweep", "45 3 * * *", "long", "Delete blobs without a record, older than 48 hours", sweep_storages),
    ("overdue", "every 1m", "short", "Report collections whose backup is overdue", report),
    ("tokens", "every 1h", "short", "Remove expired tokens", remove_tokens),
    (
        "trash",
        "every 10m",
        "short",
        "End what was in the trash for its time, or early if the storage is full",
        end_trash,
    ),
    ("pins", "every 10m", "short", "Unpin versions whose pin is over", unpin_ended),
    ("migrate", "every 10m", "long", "Move collections into other storages, on request", move_collections),
    ("mirror", "every 1m", "mirror", "Make second copies, and delete those of deleted contents", mirror),
    ("compact", "every 1h", "compact", "Store older versions as differences to newer ones", compact),
    (
        "retention",
        "every 10m",
        "short",
        "Retain the bytes of locked versions in the storages that can",
        retain_locked,
    ),
    ("unjudged", "every 1h", "short", "Rotate versions in whose verdict is late", rotate_unjudged),
    ("journal", "every 1m", "short", "Write what has changed into each storage, for a recovery", write_journal),
    ("catalogue", "30 1 * * *", "medium", "Write all that the database knows into each storage", write_catalogue),
    ("events", "30 4 * * *", "short", "Delete old events and records of jobs", prune),
    ("database", "0 5 * * 0", "long", "Refresh the statistics of the database", maintain_database),
    ("samples", "5 0 * * *", "short", "Record the sizes of collections", sample),
    (
        "restore_tests",
        "30 5 * * *",
        "long",
        "Test whether the newest version of each collection can be restored",
        test_restores,
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
    """Return the built-in jobs of a service. In read-only mode they change nothing. Restore tests need a command."""
    off = set() if services.settings.restore_tests_command else {"restore_tests"}
    off |= set() if services.settings.mirror or len(services.backends.configured) > 1 else {"mirror"}
    off |= set() if services.settings.compact else {"compact"}
    return [
        Job(
            name=name,
            schedule="off" if name in off else schedule,
            lane=lane,
            summary=summary,
            run=partial(_run, services, work),
        )
        for name, schedule, lane, summary, work in UPKEEP_JOBS
    ]


def _run(services: CoreServices, work: Callable[[CoreServices, JobContext], Summary], context: JobContext) -> Summary:
    if services.settings.read_only:
        return {"skipped": "the service is in read-only mode"}
    return work(services, context)
