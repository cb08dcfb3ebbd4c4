"""The states of a collection, computed when it is read: SQL expressions to select, filter and sort by them."""

from collections.abc import Collection as Group
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Any, TypeAlias

from sqlalchemy import BindParameter, ColumnElement, Select, and_, bindparam, case, func, or_, select
from sqlalchemy.orm import Session

from frepo_core.db.build_once import build_once
from frepo_core.db.models import Collection, Content, File, StoredObject, Version
from frepo_core.domain.structs import struct

from ...base.records import CollectionRecord
from ...content.objects.states import ObjectState
from ...content.objects.uses import is_lost
from .state_reasons import has_sent_nothing_yet, reasons

# A time, or the parameter of a statement that is built once: that takes several times as long as running it.
Moment: TypeAlias = datetime | BindParameter[datetime]
NOW: BindParameter[datetime] = bindparam("now", type_=Collection.due_at.type)


class BackupState(StrEnum):
    """The states of a collection, the worst one first. Several may apply; the state is the worst of them."""

    DAMAGED = "damaged"
    OVERDUE = "overdue"
    FAILED = "failed"
    FULL = "full"
    PROBLEM = "problem"
    SUSPICIOUS = "suspicious"
    LATE = "late"
    NEW = "new"
    OK = "ok"


CRITICAL = (BackupState.DAMAGED, BackupState.OVERDUE, BackupState.FAILED, BackupState.FULL, BackupState.PROBLEM)
WARNING = (BackupState.SUSPICIOUS, BackupState.LATE)
NOT_WELL = (*CRITICAL, *WARNING)
IN_TROUBLE = (*CRITICAL, BackupState.SUSPICIOUS)


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


@struct
class StateRecord:
    """The state of a collection, and since when (UTC, aware). `states` are all that apply, the worst first.

    `since` is the time of the damage that was found first, of the end of the grace, of the broken version or the failed
    run, of the refusal, of the report of a plug-in, of the suspicious version, or of the deadline. For `new` and `ok`
    it is the last arrival, or the creation if nothing has arrived. `reason` names all states that apply, the cause
    before what follows from it; empty if there is only `new` or `ok`.
    """

    state: BackupState
    since: datetime
    reason: str = ""
    states: Sequence[BackupState] = ()


@struct
class StateCounts:
    """How many collections are in each state that applies to them, and how many there are. One may be in several.

    `in_trouble` are those that need somebody, `not_well` also those that are only late. `versions` is how many versions
    all collections have.
    """

    by_state: Mapping[BackupState, int]
    collections: int
    in_trouble: int
    not_well: int
    versions: int


def state_column(now: Moment) -> ColumnElement[str]:
    """Return the expression of the state at a time."""
    return case(*((condition, state.value) for state, condition in _conditions(now)), else_=BackupState.OK.value)


def severity_column(now: datetime) -> ColumnElement[int]:
    """Return a number to sort by: 0 for the worst state."""
    conditions = _conditions(now)
    return case(*((condition, place) for place, (_, condition) in enumerate(conditions)), else_=len(conditions))


def since_column(now: Moment) -> ColumnElement[datetime]:
    """Return the expression of the time since which the state lasts."""
    times: dict[BackupState, Any] = {
        BackupState.DAMAGED: _first_damage(),
        BackupState.OVERDUE: Collection.overdue_at,
        BackupState.FAILED: Collection.failed_since,
        BackupState.FULL: Collection.full_since,
        BackupState.PROBLEM: Collection.problem_since,
        BackupState.SUSPICIOUS: Collection.suspicious_since,
        BackupState.LATE: Collection.due_at,
    }
    last = Collection.arrived_at
    found = case(*((condition, times.get(state, last)) for state, condition in _conditions(now)), else_=last)
    return func.coalesce(found, Collection.created_at, type_=Collection.created_at.type)


def is_in_state(states: Iterable[BackupState], now: datetime) -> ColumnElement[bool]:
    """Return the condition that one of the states applies to a collection."""
    applying = _applying(now)
    wanted = [applying[BackupState(state)] for state in states]
    return or_(*wanted) if wanted else Collection.id.is_(None)


def count_by_state(session: Session, now: datetime) -> StateCounts:
    """Count the collections by their states.

    The query groups them by the conditions that hold, a bit for each, so that it evaluates each condition once.
    """
    conditions = [*(condition for _, condition in _conditions(now)), has_sent_nothing()]
    bits = [case((condition, 1 << place), else_=0) for place, condition in enumerate(conditions)]
    held = sum(bits[1:], start=bits[0]).label("held")
    query = select(held, func.count(), func.sum(Collection.versions_count)).group_by("held")
    groups = [(_states_held(mask), number, int(versions)) for mask, number, versions in session.execute(query)]

    def count(states: Iterable[BackupState]) -> int:
        return sum(number for applying, number, _ in groups if not applying.isdisjoint(states))

    return StateCounts(
        by_state={state: count([state]) for state in BackupState},
        collections=sum(number for _, number, _ in groups),
        in_trouble=count(IN_TROUBLE),
        not_well=count(NOT_WELL),
        versions=sum(versions for _, _, versions in groups),
    )


def _states_held(mask: int) -> set[BackupState]:
    """Return the states that apply for the bits of `count_by_state`: of each state but `ok`, and `has_sent_nothing`."""
    *held, has_sent_nothing = [bool(mask >> place & 1) for place in range(len(BackupState))]
    return set(_select_states(dict(zip(BackupState, held, strict=False)), has_sent_nothing=has_sent_nothing))


def _select_states(held: Mapping[BackupState, bool], *, has_sent_nothing: bool) -> list[BackupState]:
    """Return the states that apply if the conditions of these hold, the worst first. It says what `_applying` does."""
    states = [state for state in NOT_WELL if held[state]]
    if held[BackupState.OVERDUE] and held[BackupState.LATE]:
        states.remove(BackupState.LATE)
    if held[BackupState.NEW] and (has_sent_nothing or not states):
        states.append(BackupState.NEW)
    return states or [BackupState.OK]


def read_states(session: Session, ids: Group[str], now: datetime) -> Mapping[str, StateRecord]:
    """Return the states of collections by id."""
    rows = session.execute(_states_query(), {"ids": list(ids), "now": now})
    return {row.id: describe_state(row, state, since, now) for row, state, since in rows}


@build_once
def _states_query() -> Select[Collection, str, datetime]:
    wanted = Collection.id.in_(bindparam("ids", expanding=True))
    return select(Collection, state_column(NOW), since_column(NOW)).where(wanted)


def read_in_states(
    session: Session,
    states: Iterable[BackupState],
    now: datetime,
    limit: int,
    visible: Iterable[ColumnElement[bool]] = (),
) -> list[tuple[CollectionRecord, StateRecord]]:
    """Return collections to which one of the states applies and that are `visible`, the worst and oldest first."""
    since = since_column(now)
    query = select(Collection, state_column(now), since).where(is_in_state(states, now), *visible)
    rows = session.execute(query.order_by(severity_column(now), since, Collection.id).limit(limit))
    return [(CollectionRecord.of(row), describe_state(row, state, since, now)) for row, state, since in rows]


def describe_state(row: Collection, state: str, since: datetime, now: datetime) -> StateRecord:
    """Return the states of a collection, with the reason, from what `state_column` and `since_column` have found."""
    states = _states_of(row, state, now)
    return StateRecord(state=states[0], since=since, reason="; ".join(reasons(row, states)), states=states)


def _states_of(row: Collection, state: str, now: datetime) -> list[BackupState]:
    """Return the states that apply, the worst first. A query knows what is damaged."""
    held = {
        BackupState.DAMAGED: state == BackupState.DAMAGED,
        BackupState.OVERDUE: row.overdue_at is not None and row.overdue_at <= now,
        BackupState.FAILED: row.failed_since is not None,
        BackupState.FULL: row.full_since is not None,
        BackupState.PROBLEM: row.problem_since is not None,
        BackupState.SUSPICIOUS: row.suspicious_since is not None,
        BackupState.LATE: row.due_at is not None and row.due_at <= now,
        BackupState.NEW: row.versions_count + row.pending_count == 0,
    }
    return _select_states(held, has_sent_nothing=has_sent_nothing_yet(row))


def is_overdue(now: Moment) -> ColumnElement[bool]:
    """Return the condition that a backup has not arrived within its grace; null if none is expected."""
    return Collection.overdue_at <= now


def has_sent_nothing() -> ColumnElement[bool]:
    """Return the condition that nothing has ever been sent to a collection, neither a backup nor word of a run."""
    never = (Collection.arrived_at, Collection.failed_since, Collection.full_since)
    return and_(Collection.quarantined_count == 0, *(column.is_(None) for column in never))


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


def _conditions(now: Moment) -> list[tuple[BackupState, ColumnElement[bool]]]:
    """Return the condition of each state but `ok`, the worst first. A later one may hold, too.

    That a collection is `new` says something else if another state applies as well, see `_applying`.
    """
    return [
        (BackupState.DAMAGED, Collection.id.in_(_damaged_collections())),
        (BackupState.OVERDUE, is_overdue(now)),
        (BackupState.FAILED, Collection.failed_since.is_not(None)),
        (BackupState.FULL, Collection.full_since.is_not(None)),
        (BackupState.PROBLEM, Collection.problem_since.is_not(None)),
        (BackupState.SUSPICIOUS, Collection.suspicious_since.is_not(None)),
        (BackupState.LATE, Collection.due_at <= now),
        (BackupState.NEW, Collection.versions_count + Collection.pending_count == 0),
    ]


def _applying(now: datetime) -> dict[BackupState, ColumnElement[bool]]:
    """Return when each state applies to a collection, the worst first. A comparison with null counts as false.

    `late` ends with the grace. With another state, `new` is a collection to which nothing has ever been sent.
    """
    known: dict[BackupState, ColumnElement[bool]] = {
        state: func.coalesce(condition, False) for state, condition in _conditions(now)
    }
    known[BackupState.LATE] = known[BackupState.LATE] & ~known[BackupState.OVERDUE]
    is_well = and_(*(~known[state] for state in NOT_WELL))
    is_empty = known[BackupState.NEW]
    known[BackupState.NEW] = is_empty & (is_well | has_sent_nothing())
    return {**known, BackupState.OK: is_well & ~is_empty}


def _damaged_collections() -> Select[Any]:
    """Select the ids of collections of which a version's bytes are lost. Few contents are, and an index finds them.

    Not by joins: SQLite, which does not know that they are few, would then begin with all versions.
    """
    files = select(File.id).where(File.content_id.in_(select(Content.id).where(is_lost())))
    return select(Version.collection_id).where(Version.file_id.in_(files))


def _first_damage() -> Any:
    """Return since when a version is damaged: of one that only needs what is lost, since it was stored like that."""
    is_bad = StoredObject.state.in_([ObjectState.DAMAGED, ObjectState.MISSING])
    return (
        select(func.coalesce(func.min(case((is_bad, StoredObject.since))), func.max(StoredObject.since)))
        .join(Content, Content.id == StoredObject.content_id)
        .join(File, File.content_id == Content.id)
        .join(Version, Version.file_id == File.id)
        .where(Version.collection_id == Collection.id, StoredObject.slot.is_not(None), is_lost())
        .correlate(Collection)
        .scalar_subquery()
    )
