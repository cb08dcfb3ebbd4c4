"""The sentences that say why a collection is in its states: the cause before what follows from it."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import object_session

from frepo_core.db.models import Collection, Version
from frepo_core.domain.schedules.backup_deadlines import parse_expectation

from ...base.records.collection_record import hold_of
from .problem_reports import messages_of


def has_sent_nothing_yet(row: Collection) -> bool:
    """Return whether nothing has ever been sent to a collection, neither a backup nor word of a run."""
    return row.quarantined_count == 0 and not (row.arrived_at or row.failed_since or row.full_since)


def reasons(row: Collection, states: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each state that applies: damage, what keeps good backups away, and what follows from it."""
    if "damaged" in states:
        yield "the stored bytes of a version are damaged"
    if row.failed_since is not None:
        yield row.failed_reason or "the newest backup has failed"
    if row.full_since is not None:
        yield f"there is no room for a new version since {_moment(row.full_since)}"
    if row.full_since is not None and (hold := hold_of(row)) is not None:
        yield hold.sentence
    yield from messages_of(row)
    if row.suspicious_since is not None:
        yield f"the version of {_moment(row.suspicious_since)} is suspicious{_suspicion(row, row.suspicious_since)}"
    keeps_away = _keeps_good_ones_away(row)
    if "overdue" in states:
        yield f"{'therefore overdue: ' * keeps_away}{_absence(row)}, it was due {_moment(row.due_at)}"
    if "late" in states:
        yield f"{'therefore late: ' * keeps_away}a backup was due {_moment(row.due_at)}"


def _keeps_good_ones_away(row: Collection) -> bool:
    """Return whether a backup failed, was refused or is suspicious since the last good one arrived."""
    last = row.arrived_at or row.created_at
    return any(at is not None and at > last for at in (row.failed_since, row.full_since, row.suspicious_since))


def _absence(row: Collection) -> str:
    if has_sent_nothing_yet(row):
        return "nothing has ever been sent"
    return f"no good backup has arrived since {_moment(row.arrived_at or row.created_at)}{_slot(row)}"


def _slot(row: Collection) -> str:
    """Return for which time the last backup counts, if it came a little before that."""
    if row.arrived_at is None or row.expected_every is None:
        return ""
    try:
        slot = parse_expectation(row.expected_every).slot_of(row.arrived_at)
    except ValueError:  # the system does not know the time zone any more
        return ""
    return f", which counts for {_moment(slot)}" if slot else ""


def _suspicion(row: Collection, since: datetime) -> str:
    """Return why the newest version is suspicious. One small query for each collection that is: they are few."""
    session = object_session(row)
    query = select(Version.verdict_reason).where(Version.collection_id == row.id, Version.created_at == since)
    reason = session.scalar(query.order_by(Version.number.desc()).limit(1)) if session else None
    return f": {reason}" if reason else ""


def _moment(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC" if at else "never"
