"""The built-in jobs that work on the storages. They import what they need when they run."""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from frepo_core.domain.identity import Actor
from frepo_core.errors import BytesMissingError, FrepoError, StorageUnavailable
from frepo_core.plugins import JobContext

from ..base.rate_limit import RateLimit
from .core_services import CoreServices
from .features import Summary

if TYPE_CHECKING:
    from ..upkeep.storage import SweepReport, VerifyOptions

VERIFY_AFTER, SWEEP_GRACE = timedelta(days=30), timedelta(hours=48)
EXAMPLES = 10

log = logging.getLogger(__name__)


def verify_blobs(services: CoreServices, context: JobContext) -> Summary:
    """Read the blobs, and their second copies, that were not checked for 30 days.

    At most `jobs.verify_rate` bytes a second.

    Each result is recorded at once, so a run that was interrupted is continued by the next one. Damage is marked, and
    an event. Raises `StorageUnavailable` at the end if some blobs could not be read: those are not marked.
    """
    from ..upkeep.storage import verify, verify_copies
    from ..upkeep.storage.progress import ProgressNotes

    options: VerifyOptions = {
        "older_than": VERIFY_AFTER,
        "progress": ProgressNotes(context.progress),
        "pace": RateLimit(services.settings.jobs_verify_rate, keep_going=context.check_lease),
        "by": job_actor("verify"),
    }
    report = verify(services.database, services.backends, **options)
    report += verify_copies(services.database, services.backends, services.copies.storages(), **options)
    unreadable = [damage.key for damage in report.damaged if not damage.is_marked]
    if unreadable:
        raise StorageUnavailable(
            f"{len(unreadable)} of {report.checked} blobs could not be read; the log has the reasons. "
            f"{list_keys(unreadable)}"
        )
    keys = [f"{damage.storage} {damage.key}: {damage.problem}" for damage in report.damaged]
    return {"checked": report.checked, "size": report.size, "damaged": len(keys), "examples": keys[:EXAMPLES]}


def sweep_storages(services: CoreServices, context: JobContext) -> Summary:
    """Sweep each configured storage with a grace period of 48 hours. One that fails does not stop the others.

    A storage in which another one keeps its blobs is left to that one. Deletes no blob without a record if there are
    ones from before the first mark of this database, see `sweep`.

    Raises `SweepStoppedError` if more than 20 % of the blobs would be deleted or if the storage may hold blobs of
    others, and `BytesMissingError` at the end if the bytes of records are missing.
    """
    backends, summary, advice = services.backends, Counter[str](), list[str]()

    def sweep_one(storage: str) -> None:
        report = _sweep(services, context, storage)
        summary.update({name: getattr(report, name) for name in _SWEPT})
        if report.left:
            advice.append(_advise(report, storage))
            context.log.warning("the job sweep: %s", advice[-1])
        if report.missing:
            raise BytesMissingError(
                f"The storage {storage!r} lacks the bytes of {len(report.missing)} records. Restore them from the "
                f"backup, or upload the contents again. {list_keys(report.missing)}"
            )

    _for_each([name for name in backends.configured if not backends.find_users(name)], sweep_one)
    return ({"advice": " ".join(advice)} if advice else {}) | dict(summary)


_SWEPT = ("blobs", "orphans", "orphan_size", "left", "kept", "unused", "leftovers", "foreign")


def _sweep(services: CoreServices, context: JobContext, storage: str) -> "SweepReport":
    from ..upkeep.storage import SweepPlan, check_grace, sweep
    from ..upkeep.storage.progress import ProgressNotes

    return sweep(
        services.database,
        services.backends,
        services.blobs,
        SweepPlan(storage=storage, grace=check_grace(SWEEP_GRACE), leaves_older=True),
        progress=ProgressNotes(context.progress),
        keep_going=partial(RateLimit(0, keep_going=context.check_lease), 0),
        by=job_actor("sweep"),
    )


def end_trash(services: CoreServices, context: JobContext) -> Summary:
    """End what was in the trash for its time, and more of each storage that has too little room."""
    from ..backups.trash.expiry import end_expired

    by, keep_going, early = job_actor("trash"), context.check_lease, Counter[str]()
    ended = end_expired(services.database, services.blobs, now=context.now, by=by, keep_going=keep_going)

    def keep_free(storage: str) -> None:
        early.update(asdict(services.early_ending.of(storage).keep_free(by=by, keep_going=keep_going)))

    _for_each(services.backends.configured, keep_free)
    return {**ended, "early": early["versions"], "freed_early": early["size"]}


def _for_each(storages: Sequence[str], work: Callable[[str], None]) -> None:
    """Do the work for each storage; raise the first error at the end."""
    errors: list[FrepoError] = []
    for storage in storages:
        try:
            work(storage)
        except FrepoError as error:
            errors.append(error)
            if len(storages) > 1:
                log.error("the storage %s: %s", storage, error.message)
    if errors:
        raise errors[0]


def _advise(report: "SweepReport", storage: str) -> str:
    """Return what the operator decides about blobs that the sweep left."""
    return (
        f"{report.left} blobs without a record were left in the storage {storage!r}, because {report.older} of them "
        "are older than the first mark of this database: they may be those of another service. If one uses this "
        f"storage, give it a storage of its own. If not, `frepo storage:sweep --storage {storage}` deletes them (look "
        f"at --dry-run first), and `frepo storage:adopt --storage {storage}` makes the job delete them"
    )


def job_actor(job: str) -> Actor:
    """Return who acts in a job."""
    return Actor(name=f"system:{job}")


def list_keys(keys: Sequence[str]) -> str:
    """Return the first keys as a text."""
    shown = ", ".join(keys[:EXAMPLES])
    return f"{shown}, ..." if len(keys) > EXAMPLES else shown
