"""The job `wal`: reports what an archive lacks, and deletes the segments that no base backup needs."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from frepo_core.plugins import JobContext, NotFoundError

from .archive import Archive, all_archives
from .base_check import check_pending
from .continuity import needless
from .status import Survey, describe, find_problems, store_status, survey

_AT_ONCE = 1000
_REASON = "No base backup that can be restored needs it"


def run(context: JobContext) -> Mapping[str, Any]:
    """Look at each archive."""
    check_pending(context)
    counts = {"archives": 0, "missing": 0, "deleted": 0}
    known = {one.key for one in context.service.store.items("status/", limit=1000)}
    for archive, _ in all_archives(context):
        context.check_lease()
        context.progress(archive.collection.name)
        try:
            found = survey(archive)
            _report(archive, found, context)
            counts["deleted"] += _delete(archive, found, context)
        except NotFoundError:  # it was deleted meanwhile
            continue
        known.discard(f"status/{archive.collection.id}")
        counts["archives"] += 1
        counts["missing"] += sum(one.last - one.first + 1 for one in found.gaps)
    for key in known:
        context.service.store.delete(key)
    return counts


def _report(archive: Archive, found: Survey, context: JobContext) -> None:
    problems = find_problems(found, context.settings.max_waiting)
    for name, message in problems.items():
        context.service.report_problem(archive.collection.id, name, message and message[:300])
    store_status(archive, describe(found, problems))


def _delete(archive: Archive, found: Survey, context: JobContext) -> int:
    if not found.may_delete:
        return 0
    numbers = numbers_without_need(found, archive.options.keep_days, context.now)
    deleted = 0
    for start in range(0, len(numbers), _AT_ONCE):
        context.check_lease()
        some = numbers[start : start + _AT_ONCE]
        deleted += context.service.delete_versions(archive.collection.id, some, by=None, reason=_REASON, trash=False)
    return deleted


def numbers_without_need(found: Survey, keep_days: int, now: datetime) -> list[int]:
    """Return the numbers of the versions that no base backup needs. A history has a few bytes, and stays."""
    ranges = needless(found.segments, found.bases, keep_days, now)
    size = found.segments.size
    return [
        file.number
        for file in found.files
        if file.name.kind != "history" and any(first <= file.name.index(size) <= last for first, last in ranges)
    ]
