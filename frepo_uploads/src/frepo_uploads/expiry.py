"""Ends uploads that wait too long for a part or whose token was revoked, and clears what is left of ended ones."""

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from frepo_core.plugins import JobContext

from .disk.part_file import DATA, LOCK
from .session import KEEP_OUTCOME
from .sessions import Sessions

# Seconds. A file without an upload is one whose upload is being made, or one that a crash has left.
FRESH = 3600


def run(context: JobContext) -> Mapping[str, Any]:
    """Clear this host's folder, and report the hosts that are gone; return how many of each were found."""
    sessions = Sessions(context)
    found = clear_folder(sessions, context.now, context.check_lease)
    context.check_lease()
    return {**found, "lost_hosts": sessions.hosts.report_lost(context.now)}


def clear_folder(sessions: Sessions, moment: datetime, before_step: Callable[[], None]) -> Mapping[str, int]:
    """Do, at a time in UTC, what the folder of this host needs; return how many uploads and files it was.

    The job does it on the host whose worker leads, and `upkeep` in each process that serves.
    """
    before_step()
    sessions.note_host(moment)
    forgotten = sessions.uploads.forget_ended(moment - KEEP_OUTCOME)
    before_step()
    expired = sessions.end_expired(moment)
    before_step()
    revoked = sessions.end_revoked(sessions.uploads.all_open())
    return {"expired": expired, "revoked": revoked, "forgotten": forgotten, "files": tidy(sessions)}


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
