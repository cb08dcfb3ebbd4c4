"""The built-in jobs that read whole storages, and those of second copies."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from frepo_core.domain.identity import Actor
from frepo_core.errors import StorageUnavailable
from frepo_core.plugins import JobContext

from ..base.rate_limit import RateLimit
from ..upkeep.mirror.lag import report_lag
from ..upkeep.storage import VerifyOptions, verify
from ..upkeep.storage.progress_notes import ProgressNotes
from .core_services import CoreServices

VERIFY_AFTER = timedelta(days=30)
EXAMPLES = 10

Summary = Mapping[str, Any]


def verify_blobs(services: CoreServices, context: JobContext) -> Summary:
    """Read the blobs, and their second copies, that were not checked for 30 days.

    At most `jobs.verify_rate` bytes a second.

    Each result is recorded at once, so a run that was interrupted is continued by the next one. Damage is marked, and
    an event. Raises `StorageUnavailable` at the end if some blobs could not be read: those are not marked.
    """
    options: VerifyOptions = {
        "older_than": VERIFY_AFTER,
        "progress": ProgressNotes(context.progress),
        "pace": RateLimit(services.settings.jobs_verify_rate, keep_going=context.check_lease),
        "by": job_actor("verify"),
    }
    report = verify(services.database, services.backends, **options) + services.mirror.verify(**options)
    unreadable = [damage.key for damage in report.damaged if not damage.is_marked]
    if unreadable:
        raise StorageUnavailable(
            f"{len(unreadable)} of {report.checked} blobs could not be read; the log has the reasons. "
            f"{list_keys(unreadable)}"
        )
    keys = [f"{damage.storage} {damage.key}: {damage.problem}" for damage in report.damaged]
    return {"checked": report.checked, "size": report.size, "damaged": len(keys), "examples": keys[:EXAMPLES]}


def mirror(services: CoreServices, context: JobContext) -> Summary:
    """Make the second copies that are due, and delete those whose contents were deleted `mirror.delete_delay` ago.

    Repairs damaged first copies from second ones. After a promotion, lets records name their copies.

    Raises `SweepStoppedError` if more than 20 % of the copies in a storage would be deleted within a day.
    """
    service, keep_going, by = services.mirror, context.check_lease, job_actor("mirror")
    summary, problems = Counter[str](), list[str]()
    services.promotions.switch_rows(keep_going=keep_going, again=False)
    for storage in service.storages():
        report = service.run(storage, keep_going=keep_going, progress=context.progress, by=by)
        summary.update({name: value for name, value in asdict(report).items() if name != "problem"})
        report_lag(services.database, storage, services.settings.mirror_max_lag, by=by)
        problems += [report.problem] if report.problem else []
        if report.copied and storage == services.backends.current:  # contents that had no copy when it was promoted
            services.promotions.switch_rows(keep_going=keep_going)
    summary["repaired"] = service.repair(keep_going=keep_going, by=by)
    return {**summary, **({"problem": "; ".join(problems)} if problems else {})}


def job_actor(job: str) -> Actor:
    """Return who acts in a job."""
    return Actor(name=f"system:{job}")


def list_keys(keys: Sequence[str]) -> str:
    """Return the first keys as a text."""
    shown = ", ".join(keys[:EXAMPLES])
    return f"{shown}, ..." if len(keys) > EXAMPLES else shown
