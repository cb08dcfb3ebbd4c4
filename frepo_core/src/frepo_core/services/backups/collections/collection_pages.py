"""Reads collections with their newest versions: pages of them for both APIs, and one of them."""

import re
from collections.abc import Collection as Group
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, exists, func, or_, select
from sqlalchemy.orm import Session, aliased

from frepo_core.db import Database, text_expressions, utc_now
from frepo_core.db.build_once import build_once
from frepo_core.db.json_expressions import has_item
from frepo_core.db.models import Collection, CollectionToken, Event, Sample, Version
from frepo_core.domain.backups.baseline import Baseline
from frepo_core.domain.backups.verdicts import Verdict
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Identity
from frepo_core.domain.permissions import allows
from frepo_core.domain.structs import struct

from ...base.keyset import NumberedPage, Page, PageRequest, cut, paged
from ...base.records import CollectionRecord, VersionRecord
from ..rows.collection_search import CollectionSearch, lists_one_of, search_collections, visible_to
from ..rows.newest_good import GoodVersion, read_newest_good
from ..rows.quarantine import is_there_for
from ..rows.version_rows import records_of, select_with_files
from ..trash.entries import read_sizes
from .collection_states import is_unchanged
from .states import (
    NOW,
    BackupState,
    StateRecord,
    describe_state,
    is_in_state,
    read_states,
    severity_column,
    since_column,
    state_column,
)

# Time (UTC), size in bytes and number of versions.
DailySize = tuple[datetime, int, int]

# What pages can be ordered by, next to `state`. The columns have an index together with the id. For the others, the
# collections that match are sorted at each page: there are thousands of them, not millions.
ORDERS: Mapping[str, ColumnElement[Any]] = {
    "name": Collection.filename.expression,
    "created_at": Collection.created_at.expression,
    "stored_size": Collection.stored_size.expression,
    # Of a collection without a version, the creation. MariaDB would return a text if it were compared with a constant.
    "last_version_at": func.coalesce(Collection.arrived_at, Collection.created_at, type_=Collection.created_at.type),
}
# What is read about each collection of a page beyond its row, by statements of their own.
NEWEST, NEWEST_GOOD, TRASH = PARTS = ("newest", "newest_good", "trash")
_PART_OF_ID = re.compile("[0-9a-fA-F-]+")


@struct
class SizeBounds:
    """A version is suspicious if it is smaller than `least`, or larger than `most`, None for any size. In bytes.

    `median` is that of the last 14 good versions, `largest_median` the largest one of 60 days. They are None for fewer
    than three versions, of which each is compared with the one before.
    """

    median: int | None = None
    largest_median: int | None = None
    least: int = 0
    most: int | None = None


def find_size_bounds(record: CollectionRecord, newest_good: GoodVersion | None, now: datetime) -> SizeBounds:
    """Return the bounds for a version that arrives `now` (UTC)."""
    baseline = Baseline.load(record.baseline)
    median, largest = baseline.median(), baseline.largest_median(now)
    before = newest_good.size if newest_good else None
    bounds = record.guards.bounds(before if median is None else median, largest=largest)
    return SizeBounds(median=median, largest_median=largest or None, least=bounds.least, most=bounds.most)


@struct
class CollectionFilter:
    """Which collections: name, description or id contain `text` in any case, and they have this strategy; empty: any.

    They are in one of the `states`, and have a version with one of the `verdicts`, if there are any, and have all of
    the `labels`. Their newest content has arrived again on at least `unchanged_nights` later days; 0: any.
    A version of theirs is in quarantine for one of the `reasons`, if there are any. They have versions, and had no good
    restore test for `untested_for`; None: any.
    """

    text: str = ""
    strategy: str = ""
    states: Sequence[BackupState] = ()
    labels: Sequence[str] = ()
    verdicts: Sequence[Verdict] = ()
    unchanged_nights: int = 0
    reasons: Sequence[str] = ()
    untested_for: timedelta | None = None


@struct
class CollectionDetails:
    """A collection, its newest version, None if it has none, its state when it was read, and the bytes in its trash.

    `newest_good` is its newest good version, None if it has none. `size_bounds` are what guards allow for the next one.
    `listed` is whether the collection lists the token of the reader.
    """

    record: CollectionRecord
    newest: VersionRecord | None
    state: StateRecord
    newest_good: GoodVersion | None = None
    size_bounds: SizeBounds = field(default_factory=SizeBounds)
    trash_size: int = 0
    listed: bool = False


class CollectionPages:
    """Lists collections for readers."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(
        self, wanted: CollectionFilter, page: PageRequest, *, by: Identity, parts: Group[str] = PARTS
    ) -> Page[CollectionDetails]:
        """Return a page of the collections that the token may see, by one of `ORDERS` or by `state`, the worst first.

        Without the role for lists, these are the ones that list the token. Of `PARTS`, only `parts` are read. Raises
        `FieldsError`.
        """
        now = utc_now()
        order = severity_column(now) if page.sort == "state" else ORDERS[page.sort]
        # Only the ids at first: where collections are sorted, it would take long to have their states sorted with them.
        query = select(Collection.id, order).where(*_conditions(wanted, by, now))
        with self._database.reading(is_snapshot=True) as session:
            rows = session.execute(paged(query, page, [order, Collection.id])).all()
            found = cut(rows, page, lambda row: [row[1], row[0]])
            ids = [row[0] for row in found.items]
            return Page(items=_read_details(session, ids, now, by, parts), next=found.next)

    def search(self, search: CollectionSearch, *, by: Identity) -> NumberedPage[CollectionRecord]:
        """Return a numbered page of the collections that the token may see, newest first."""
        with self._database.reading() as session:
            return search_collections(session, search, by=by)

    def sizes(self, ids: Sequence[str], *, days: int, by: Identity) -> dict[str, list[DailySize]]:
        """Return time (UTC), bytes and number of versions of each daily sample by collection, the oldest first.

        Collections that the token may not see are left out, and samples of others that had the same id before.
        """
        start = utc_now() - timedelta(days=days)
        with self._database.reading() as session:
            visible = select(Collection.id).where(Collection.id.in_(ids), *visible_to(by)).order_by(Collection.id)
            found: dict[str | None, list[DailySize]] = {one: [] for one in session.scalars(visible)}
            is_of_it = (Sample.collection_id == Collection.id) & (Sample.at >= Collection.created_at)
            query = select(Sample.collection_id, Sample.at, Sample.size, Sample.versions).join(Collection, is_of_it)
            query = query.where(Sample.collection_id.in_(list(found)), Sample.at >= start)
            for collection, at, size, versions in session.execute(query.order_by(Sample.at)):
                found[collection].append((at, size, versions))
        return {one: sizes for one, sizes in found.items() if one}

    def arrivals(self, *, days: int, by: Identity) -> dict[str, list[int]]:
        """Return how many versions have arrived on each of the last days (UTC), the oldest first, by collection.

        Collections that the token may not see are left out, and so are those of which nothing has arrived.
        """
        today = utc_now().date()
        start = datetime.combine(today - timedelta(days=days - 1), time(), UTC)
        day = func.date(Event.at)
        is_of_it = (Event.collection_id == Collection.id) & (Event.at >= Collection.created_at)
        query = select(Collection.id, day, func.count()).join(Event, is_of_it).group_by(Collection.id, day)
        is_arrival = (Event.kind == EventKind.VERSION_ADDED.value, Event.at >= start)
        found: dict[str, list[int]] = {}
        with self._database.reading() as session:
            for collection, at, number in session.execute(query.where(*is_arrival, *visible_to(by))):
                age = (today - date.fromisoformat(str(at))).days
                if 0 <= age < days:
                    found.setdefault(collection, [0] * days)[days - 1 - age] = number
        return found

    def details(self, record: CollectionRecord, *, by: Identity | None = None) -> CollectionDetails:
        """Return a collection with its newest version and its state. `by` is None for `frepo`."""
        now = utc_now()
        with self._database.reading() as session:
            newest = _newest_versions(session, [record]).get(record.id)
            states = read_states(session, [record.id], now)
            good = read_newest_good(session, [record.id]).get(record.id)
            trash_size = read_sizes(session, [record.id]).get(record.id, 0)
            listed = by is not None and session.get(CollectionToken, (record.id, by.token)) is not None
        # It may have been deleted since the record was read.
        state = states.get(record.id) or StateRecord(state=BackupState.OK, since=record.created_at)
        return CollectionDetails(
            record=record,
            newest=newest,
            newest_good=good,
            size_bounds=find_size_bounds(record, good, now),
            state=state,
            trash_size=trash_size,
            listed=listed,
        )


def _read_details(
    session: Session, ids: Sequence[str], now: datetime, by: Identity, parts: Group[str]
) -> list[CollectionDetails]:
    """Return collections with their newest versions and states, in the order of the ids."""
    rows = session.execute(_details_query(), {"ids": list(ids), "now": now, "token": by.token})
    found = {row.id: (row, BackupState(state), since, listed) for row, state, since, listed in rows}
    newest = _newest_versions(session, [row for row, *_ in found.values()]) if NEWEST in parts else {}
    good = read_newest_good(session, ids) if NEWEST_GOOD in parts else {}
    trash = read_sizes(session, ids) if TRASH in parts else {}
    return [
        CollectionDetails(
            record=record,
            newest=newest.get(row.id),
            newest_good=good.get(row.id),
            size_bounds=find_size_bounds(record, good.get(row.id), now),
            state=describe_state(row, state, since, now),
            trash_size=trash.get(row.id, 0),
            listed=listed,
        )
        for row, state, since, listed in (found[one] for one in ids)
        for record in [CollectionRecord.of(row)]
    ]


@build_once
def _details_query() -> Select[Collection, str, datetime, bool]:
    is_it = CollectionToken.collection_id == Collection.id, CollectionToken.token_key == bindparam("token")
    query = select(Collection, state_column(NOW), since_column(NOW), exists().where(*is_it))
    return query.where(Collection.id.in_(bindparam("ids", expanding=True)))


def _conditions(wanted: CollectionFilter, by: Identity, now: datetime) -> list[ColumnElement[bool]]:
    conditions = visible_to(by) if allows("collection.list", by) else [lists_one_of([by.token])]
    if wanted.text:
        columns = [Collection.filename, Collection.description]
        if _PART_OF_ID.fullmatch(wanted.text):  # otherwise no id contains it
            columns.append(Collection.id)
        conditions.append(or_(*(text_expressions.contains_unindexed(column, wanted.text) for column in columns)))
    if wanted.strategy:
        conditions.append(Collection.strategy == wanted.strategy)
    if wanted.states:
        conditions.append(is_in_state(wanted.states, now))
    if wanted.unchanged_nights:
        conditions.append(is_unchanged(wanted.unchanged_nights))
    if wanted.untested_for is not None:
        tested = func.coalesce(Collection.restore_tested_at < now - wanted.untested_for, True)
        conditions += [Collection.versions_count > 0, tested]
    if wanted.reasons:
        of_reason = select(Version.collection_id).where(is_there_for(wanted.reasons))
        conditions += [Collection.quarantined_count > 0, Collection.id.in_(of_reason)]
    if wanted.verdicts:
        # One look into an index for each collection: most versions have the verdict `complete`.
        of_verdict = select(Version.id).where(Version.collection_id == Collection.id)
        is_there = [of_verdict.where(Version.verdict == verdict).exists() for verdict in wanted.verdicts]
        conditions.append(or_(*is_there))
    conditions += [has_item(Collection.labels, label) for label in wanted.labels]
    return conditions


def _newest_versions(
    session: Session, collections: Sequence[Collection | CollectionRecord]
) -> dict[str, VersionRecord]:
    """Return the newest version of each collection that has one. Versions in quarantine do not count.

    A subquery for each collection reads one entry of the index. Groups would read all versions of these collections.
    """
    if not collections:
        return {}
    query = _newest_query(any(collection.quarantined_count for collection in collections))
    rows = session.scalars(query, {"ids": [collection.id for collection in collections]}).all()
    return {version.collection_id: version for version in records_of(session, rows)}


@build_once
def _newest_query(has_quarantined: bool) -> Select[Version]:
    other = aliased(Version)
    largest = select(func.max(other.number)).where(other.collection_id == Collection.id)
    if has_quarantined:
        # Without this condition, the index over the numbers is enough.
        largest = largest.where(~other.is_quarantined)
    wanted = Collection.id.in_(bindparam("ids", expanding=True))
    newest = select(Collection.id, largest.scalar_subquery().label("number")).where(wanted).subquery()
    is_it = (newest.c.id == Version.collection_id) & (newest.c.number == Version.number)
    return select_with_files().join(newest, is_it)
