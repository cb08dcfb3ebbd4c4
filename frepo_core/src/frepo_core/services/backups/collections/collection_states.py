"""The states of collections: which ones need somebody, and whose backup has not arrived."""

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection
from frepo_core.domain.identity import Identity
from frepo_core.domain.structs import struct

from ...base.records import CollectionRecord
from ..rows.collection_search import visible_to
from .states import BackupState, StateRecord, count_expecting, read_in_states, read_missing, read_states

# From how many nights on reports name a collection.
NIGHTS = 7
_UNCHANGED = Collection.baseline["unchanged_nights"].as_integer()


@struct
class UnchangedCollections:
    """How many collections got the same content on at least `nights` later days; some of them, the longest first."""

    nights: int
    number: int
    collections: Sequence[CollectionRecord]


def is_unchanged(nights: int) -> ColumnElement[bool]:
    """Return the condition that the newest content has arrived again on at least so many later days."""
    return func.coalesce(_UNCHANGED, 0) >= nights


def read_unchanged(
    session: Session, limit: int, *, visible: Iterable[ColumnElement[bool]] = ()
) -> UnchangedCollections:
    """Return the collections that got the same content for `NIGHTS`; at most `limit` of those `visible` are named."""
    number = session.scalar(select(func.count()).select_from(Collection).where(is_unchanged(NIGHTS)))
    query = select(Collection).where(is_unchanged(NIGHTS), *visible).order_by(_UNCHANGED.desc(), Collection.id)
    rows = session.scalars(query.limit(limit))
    return UnchangedCollections(
        nights=NIGHTS, number=number or 0, collections=[CollectionRecord.of(row) for row in rows]
    )


@struct
class ExpectedBackups:
    """How many collections expect backups, and those whose backup has not arrived, the longest missing first.

    The grace of `overdue` ones is over; that of `late` ones is not.
    """

    expected: int
    overdue: Sequence[CollectionRecord]
    late: Sequence[CollectionRecord]


class CollectionStates:
    """Reads the states of collections."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def missing(self) -> ExpectedBackups:
        """Return the collections whose backup is due and has not arrived: overdue or within the grace."""
        now = utc_now()
        with self._database.reading(is_snapshot=True) as session:
            rows = read_missing(session, now)
            expected = count_expecting(session)
        return ExpectedBackups(
            expected=expected,
            overdue=[row for row, is_overdue in rows if is_overdue],
            late=[row for row, is_overdue in rows if not is_overdue],
        )

    def in_states(
        self, states: Iterable[BackupState], limit: int, *, by: Identity | None = None
    ) -> list[tuple[CollectionRecord, StateRecord]]:
        """Return collections that are in one of the states, the worst first. `by` is None for `frepo`."""
        with self._database.reading() as session:
            return read_in_states(session, states, utc_now(), limit, visible_to(by) if by else ())

    def unchanged(self, limit: int, *, by: Identity | None = None) -> UnchangedCollections:
        """Return the collections that get the same content for a week or longer. `by` is None for `frepo`."""
        with self._database.reading() as session:
            return read_unchanged(session, limit, visible=visible_to(by) if by else ())

    def read(self, ids: Sequence[str]) -> Mapping[str, StateRecord]:
        """Return the states of collections by id."""
        with self._database.reading() as session:
            return read_states(session, ids, utc_now())
