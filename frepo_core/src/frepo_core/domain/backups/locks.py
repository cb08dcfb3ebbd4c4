"""The rule of locked collections: until when a version is locked, and that nothing removes it before.

A lock is a promise against everybody who uses the service, administrators included. So a doubt about the time counts in
favour of the lock: it begins by the latest of the clocks that are asked, and is over when all of them say so.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from frepo_core.errors import FieldsError, LockShortenedError, VersionLockedError

from ..durations import format_duration, format_iso_duration

NONE = timedelta()
# No law asks for more, and a typing error cannot be undone.
LONGEST = timedelta(days=36525)


def lock_end(length: timedelta, clocks: Iterable[datetime]) -> datetime | None:
    """Return until when a version that arrives now is locked; None if its collection is not locked.

    `clocks` are all that say what time it may be: those of the host and of the database, and the time of the newest
    version. A clock that is slow, or was set back, shortens no lock.
    """
    return max(clocks) + length if length else None


def extended(until: datetime | None, created_at: datetime, *, before: timedelta, after: timedelta) -> datetime:
    """Return until when a version is locked after the lock of its collection was extended."""
    ends = [created_at + after]
    if until is not None:
        ends += [until, until + (after - before)] if before else [until]
    return max(ends)


def is_locked(until: datetime | None, clocks: Iterable[datetime]) -> bool:
    """Return whether a lock is not over by one of the clocks at least."""
    return until is not None and any(now < until for now in clocks)


def require_unlocked(untils: Iterable[datetime | None], clocks: Sequence[datetime]) -> None:
    """Raise `VersionLockedError` if one of these versions is locked: all that removes versions calls this."""
    if locked := [until for until in untils if until is not None and is_locked(until, clocks)]:
        raise locked_error(max(locked))


def locked_error(until: datetime) -> VersionLockedError:
    """Return the error that says until when a version is locked."""
    return VersionLockedError(context={"until": f"{until:%Y-%m-%d %H:%M:%S} UTC"})


def check_length(length: timedelta, before: timedelta, *, longest: timedelta) -> None:
    """Raise `FieldsError` if a lock that is set or extended is longer than the service allows."""
    if length > before and length > longest:
        most = format_duration(longest)
        raise FieldsError(
            {"locked": [f"is at most {most}, as the setting locks.max (LOCKS_MAX) says: nobody can undo a lock"]}
        )


def check_lock(before: timedelta, after: timedelta) -> None:
    """Raise `LockShortenedError` if a change would shorten or remove the lock of a collection."""
    if after < before:
        raise LockShortenedError(context={"locked": format_iso_duration(before)})
