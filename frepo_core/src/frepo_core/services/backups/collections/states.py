"""The state of a collection, computed when it is read: SQL expressions to select, filter and sort by it."""

from collections.abc import Collection as Group
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Select, case, func, or_, select
from sqlalchemy.orm import Session, object_session

from frepo_core.db.models import Blob, Collection, File, Version

from ...base.records import CollectionRecord


class BackupState(StrEnum):
    """The state of a collection, the worst one first. The worst one that applies wins."""

    DAMAGED = "damaged"
    OVERDUE = "overdue"
    FAILED = "failed"
    FULL = "full"
    SUSPICIOUS = "suspicious"
    LATE = "late"
    NEW = "new"
    OK = "ok"


CRITICAL = (BackupState.DAMAGED, BackupState.OVERDUE, BackupState.FAILED, BackupState.FULL)
WARNING = (BackupState.SUSPICIOUS, BackupState.LATE)
NOT_WELL = (*CRITICAL, *WARNING)


class Severity(IntEnum):
    """How bad something is. The numbers are the exit statuses of Nagios plug-ins."""

    OK = 0
    WARNING = 1
    CRITICAL = 2


def severity_of(state: BackupState) -> Severity:
    """Return how bad a state is."""
    if state in CRITICAL:
        return Severity.CRITICAL
    return Severity.WARNING if state in WARNING else Severity.OK


@dataclass(frozen=True, kw_only=True)
class StateRecord:
    """The state of a collection, and since when (UTC, aware).

    `since` is the time of the damage that was found first, of the end of the grace, of the broken version or the failed
    run, of the refusal, of the suspicious version, or of the deadline. For `new` and `ok` it is the last arrival, or
    the creation if nothing has arrived. `reason` names all states that apply, the worst first; empty for `new` and
    `ok`.
    """

    state: BackupState
    since: datetime
    reason: str = ""


def state_column(now: datetime) -> ColumnElement[str]:
    """Return the expression of the state at a time."""
    return case(*((condition, state.value) for state, condition in _conditions(now)), else_=BackupState.OK.value)


def severity_column(now: datetime) -> ColumnElement[int]:
    """Return a number to sort by: 0 for the worst state."""
    conditions = _conditions(now)
    return case(*((condition, place) for place, (_, condition) in enumerate(conditions)), else_=len(conditions))


def since_column(now: datetime) -> ColumnElement[datetime]:
    """Return the expression of the time since which the state lasts."""
    times: dict[BackupState, Any] = {
        BackupState.DAMAGED: _first_damage(),
        BackupState.OVERDUE: Collection.overdue_at,
        BackupState.FAILED: Collection.failed_since,
        BackupState.FULL: Collection.full_since,
        BackupState.SUSPICIOUS: Collection.suspicious_since,
        BackupState.LATE: Collection.due_at,
    }
    last = Collection.arrived_at
    found = case(*((condition, times.get(state, last)) for state, condition in _conditions(now)), else_=last)
    return func.coalesce(found, Collection.created_at, type_=Collection.created_at.type)


def is_in_state(states: Iterable[BackupState], now: datetime) -> ColumnElement[bool]:
    """Return the condition that a collection is in one of the states."""
    conditions = _conditions(now)
    wanted = [_only(BackupState(state), conditions) for state in states]
    return or_(*wanted) if wanted else Collection.id.is_(None)


def count_by_state(session: Session, now: datetime, visible: Select[Any] | None = None) -> dict[BackupState, int]:
    """Return how many collections are in each state. `visible` selects the ids of those that count; None: all."""
    return count_with_versions(session, now, visible)[0]


def count_with_versions(
    session: Session, now: datetime, visible: Select[Any] | None = None
) -> tuple[dict[BackupState, int], int]:
    """Return the same, and how many versions these collections have."""
    query = select(state_column(now).label("state"), func.count(), func.sum(Collection.versions_count)).group_by(
        "state"
    )
    if visible is not None:
        query = query.where(Collection.id.in_(visible))
    rows = session.execute(query).all()
    found = {state: number for state, number, _ in rows}
    return {state: found.get(state.value, 0) for state in BackupState}, sum(int(versions) for *_, versions in rows)


def read_states(session: Session, ids: Group[str], now: datetime) -> Mapping[str, StateRecord]:
    """Return the states of collections by id."""
    query = select(Collection, state_column(now), since_column(now)).where(Collection.id.in_(ids))
    return {row.id: describe_state(row, state, since, now) for row, state, since in session.execute(query)}


def read_in_states(
    session: Session,
    states: Iterable[BackupState],
    now: datetime,
    limit: int,
    visible: Iterable[ColumnElement[bool]] = (),
) -> list[tuple[CollectionRecord, StateRecord]]:
    """Return collections that are in one of the states and `visible`, the worst and oldest first."""
    since = since_column(now)
    query = select(Collection, state_column(now), since).where(is_in_state(states, now), *visible)
    rows = session.execute(query.order_by(severity_column(now), since, Collection.id).limit(limit))
    return [(CollectionRecord.of(row), describe_state(row, state, since, now)) for row, state, since in rows]


def describe_state(row: Collection, state: str, since: datetime, now: datetime) -> StateRecord:
    """Return the state of a collection, with the reason, from what `state_column` and `since_column` have found."""
    return StateRecord(state=BackupState(state), since=since, reason="; ".join(_reasons(row, state, now)))


def _reasons(row: Collection, state: str, now: datetime) -> Iterator[str]:
    """Yield a sentence for each state that applies, the worst first."""
    if state == BackupState.DAMAGED:
        yield "the stored bytes of a version are damaged"
    if row.overdue_at is not None and row.overdue_at <= now:
        last = _moment(row.arrived_at or row.created_at)
        yield f"no good backup has arrived since {last}, it was due {_moment(row.due_at)}"
    if row.failed_since is not None:
        yield row.failed_reason or "the newest backup has failed"
    if row.full_since is not None:
        yield f"there is no room for a new version since {_moment(row.full_since)}"
    if row.suspicious_since is not None:
        yield f"the version of {_moment(row.suspicious_since)} is suspicious{_suspicion(row, row.suspicious_since)}"
    if state == BackupState.LATE:
        yield f"a backup was due {_moment(row.due_at)}"


def _suspicion(row: Collection, since: datetime) -> str:
    """Return why the newest version is suspicious. One small query for each collection that is: they are few."""
    session = object_session(row)
    query = select(Version.verdict_reason).where(Version.collection_id == row.id, Version.created_at == since)
    reason = session.scalar(query.order_by(Version.number.desc()).limit(1)) if session else None
    return f": {reason}" if reason else ""


def _moment(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC" if at else "never"


def is_overdue(now: datetime) -> ColumnElement[bool]:
    """Return the condition that a backup has not arrived within its grace; null if none is expected."""
    return Collection.overdue_at <= now


def read_missing(session: Session, now: datetime) -> list[tuple[CollectionRecord, bool]]:
    """Return the collections whose next version is due and has not arrived, whatever their state, the oldest first.

    With each, whether it is overdue.
    """
    missing = select(Collection, is_overdue(now)).where(Collection.due_at <= now)
    rows = session.execute(missing.order_by(Collection.due_at, Collection.id))
    return [(CollectionRecord.of(row), bool(overdue)) for row, overdue in rows]


def count_expecting(session: Session) -> int:
    """Return how many collections expect backups."""
    return session.scalar(select(func.count()).where(Collection.due_at.is_not(None))) or 0


def _conditions(now: datetime) -> list[tuple[BackupState, ColumnElement[bool]]]:
    """Return the condition of each state but `ok`, the worst first. A later one may hold, too."""
    return [
        (BackupState.DAMAGED, Collection.id.in_(_damaged_collections())),
        (BackupState.OVERDUE, is_overdue(now)),
        (BackupState.FAILED, Collection.failed_since.is_not(None)),
        (BackupState.FULL, Collection.full_since.is_not(None)),
        (BackupState.SUSPICIOUS, Collection.suspicious_since.is_not(None)),
        (BackupState.LATE, Collection.due_at <= now),
        (BackupState.NEW, Collection.versions_count + Collection.pending_count == 0),
    ]


def _only(state: BackupState, conditions: list[tuple[BackupState, ColumnElement[bool]]]) -> ColumnElement[bool]:
    """Return the condition that the state applies, and no worse one. A comparison with null counts as false."""
    known = {name: func.coalesce(condition, False) for name, condition in conditions}
    worse = [known[other] for other, _ in conditions if list(BackupState).index(other) < list(BackupState).index(state)]
    applies: ColumnElement[bool] = dict(conditions).get(state, Collection.id.is_not(None))
    for condition in worse:
        applies = applies & ~condition
    return applies


def _damaged_collections() -> Select[Any]:
    """Select the ids of collections of which a version's bytes are damaged. Few blobs are, and an index finds them.

    Not by joins: SQLite, which does not know that they are few, would then begin with all versions.
    """
    blobs = select(Blob.id).where(Blob.damaged_at.is_not(None))
    files = select(File.id).where(File.blob_id.in_(blobs))
    return select(Version.collection_id).where(Version.file_id.in_(files))


def _first_damage() -> Any:
    return (
        select(func.min(Blob.damaged_at))
        .join(File, File.blob_id == Blob.id)
        .join(Version, Version.file_id == File.id)
        .where(Version.collection_id == Collection.id, Blob.damaged_at.is_not(None))
        .correlate(Collection)
        .scalar_subquery()
    )
