"""The job `uploads`: ends uploads that wait too long for a part, and clears what is left of ended ones."""

import contextlib
import os
import time
from collections.abc import Mapping
from typing import Any

from frepo_core.plugins import Job, JobContext

from .disk.part_file import DATA, LOCK
from .session import KEEP_OUTCOME
from .sessions import Sessions

JOB = "uploads"
SCHEDULE = "every 10m"
# Seconds. A file without an upload is one whose upload is being made, or one that a crash has left.
FRESH = 3600


def make_job() -> Job:
    """Return the job."""
    return Job(
        name=JOB,
        schedule=SCHEDULE,
        run=run,
        summary="End uploads in parts that wait too long for the next part",
    )


def run(context: JobContext) -> Mapping[str, Any]:
    """End what has expired, and delete what is left of ended uploads; return how many of each."""
    sessions = Sessions(context)
    forgotten = 0
    for upload in sessions.uploads.ended_before(context.now - KEEP_OUTCOME):
        context.check_lease()
        sessions.uploads.forget(upload)
        forgotten += 1
    context.check_lease()
    expired = sessions.end_expired(context.now)
    return {"expired": expired, "forgotten": forgotten, "files": tidy(sessions)}


def tidy(sessions: Sessions) -> int:
    """Delete the files in this folder that belong to no open upload; return how many."""
    known = {upload.id for upload in sessions.uploads.all_open()}
    deleted = 0
    for entry in os.scandir(sessions.place.folder):
        name, suffix = os.path.splitext(entry.name)
        if suffix not in {DATA, LOCK} or name in known:
            continue
        with contextlib.suppress(FileNotFoundError):
            if entry.stat(follow_symlinks=False).st_mtime < time.time() - FRESH:
                os.unlink(entry.path)
                deleted += suffix == DATA
    return deleted
