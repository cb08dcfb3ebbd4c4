"""The overview: the state and the sizes of the service, for operators, and the history of sizes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Sample
from frepo_core.domain.identity import Identity

from ...backups.collections.states import (
    BackupState,
    StateCounts,
    StateRecord,
    count_by_state,
    count_expecting,
    read_in_states,
    read_missing,
    read_states,
)
from ...backups.collections.unchanged import UnchangedCollections, read_unchanged
from ...backups.rows.collection_search import visible_to
from ...base.keyset import Page, PageRequest, cut, paged
from ...base.records import CollectionRecord
from ...content.storages.backends import Backends
from ...content.storages.storage_space import find_free_space, find_total_space
from ...upkeep.engine.job_reports import find_failing_jobs
from ..compact_space import CompactSpace, CompactSpaces
from ..copies import Copies, CopyFigures
from ..inventory.damage import count_damaged
from ..sizes import Sizes, read_sizes
from .activity import Activity, count_recent
from .growth import CollectionUsage, Growth, collection_usage, service_growth
from .verdict_counts import VerdictCounts, count_by_verdict

# Only so many collections are named, the worst ones. `frepo backup:list --state STATE` lists all.
NAMED = 20
DAY, MONTH = timedelta(days=1), timedelta(days=30)


@dataclass(frozen=True, kw_only=True)
class Overview:
    """Figures about the whole service at a time (UTC, aware).

    `free_space` and `total_space` (bytes), that of the empty storage, are None if the storage cannot tell, or cannot be
    reached. `failing_jobs` are names.
    """

    at: datetime
    collections: StateCounts
    verdicts: VerdictCounts
    sizes: Sizes
    storage: str
    free_space: int | None
    total_space: int | None
    growth: Growth
    last_day: Activity
    last_month: Activity
    damaged_blobs: int
    failing_jobs: Sequence[str]
    copies: Sequence[CopyFigures]
    compact: CompactSpace | None


@dataclass(frozen=True, kw_only=True)
class SampleRecord:
    """The size of a collection, or of the service, at a time (UTC, aware).

    `size` (bytes) of the service is that of its blobs. `sent`, `uploads` and `refusals` are known for the service only.
    """

    at: datetime
    versions: int
    size: int
    blobs: int
    sent: int | None
    uploads: int | None
    refusals: int | None


@dataclass(frozen=True, kw_only=True)
class ExpectedBackups:
    """How many collections expect backups, and those whose backup has not arrived, the longest missing first.

    The grace of `overdue` ones is over; that of `late` ones is not.
    """

    expected: int
    overdue: Sequence[CollectionRecord]
    late: Sequence[CollectionRecord]


class Overviews:
    """Reads figures about the whole service. No figure takes longer the more versions, files or events there are."""

    def __init__(self, database: Database, backends: Backends, copies: Copies, compact: CompactSpaces) -> None:
        self._database = database
        self._compact = compact
        self._copies = copies
        self._backends = backends

    def read(self) -> Overview:
        """Return the overview of this moment."""
        now, storage = utc_now(), self._backends.current
        free_space = find_free_space(self._backends, storage)
        with self._database.reading() as session:
            collections = count_by_state(session, now)
            last_day, last_month = count_recent(session, now, short=DAY, long=MONTH)
            return Overview(
                at=now,
                collections=collections,
                verdicts=count_by_verdict(session),
                sizes=read_sizes(session, now, least=collections.versions),
                storage=storage,
                free_space=free_space,
                total_space=None if free_space is None else find_total_space(self._backends, storage),
                growth=service_growth(session, now, free_space),
                last_day=last_day,
                last_month=last_month,
                damaged_blobs=count_damaged(session, self._backends),
                copies=self._copies.read(),
                compact=self._compact.read(),
                failing_jobs=find_failing_jobs(session),
            )

    def compact(self) -> CompactSpace | None:
        """Return what compact storage saves; None if nothing is compacted."""
        return self._compact.read()

    def copies(self) -> Sequence[CopyFigures]:
        """Return the figures about second copies, for each storage that has some."""
        return self._copies.read()

    def history(
        self, collection_id: str | None, page: PageRequest, *, since: datetime | None = None
    ) -> Page[SampleRecord]:
        """Return a page of the samples of a collection, or of the service, since a time, the oldest first."""
        of_it = Sample.collection_id == collection_id if collection_id else Sample.collection_id.is_(None)
        query = select(Sample).where(of_it)
        if since is not None:
            query = query.where(Sample.at >= since)
        with self._database.reading() as session:
            rows = session.scalars(paged(query, page, [Sample.at, Sample.id])).all()
            found = cut(rows, page, lambda row: [row.at, row.id])
            return Page(items=[_record(row) for row in found.items], next=found.next)

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

    def states(self, ids: Sequence[str]) -> Mapping[str, StateRecord]:
        """Return the states of collections by id."""
        with self._database.reading() as session:
            return read_states(session, ids, utc_now())

    def usage(self, limit: int, service: Overview | None = None) -> Sequence[CollectionUsage]:
        """Return the largest collections, with their growth. `service` says when the storage is full."""
        full_on = service.growth.full_on if service else None
        disk = {None: full_on, service.storage: full_on} if service else {}
        with self._database.reading() as session:
            return collection_usage(session, utc_now(), limit, disk=disk)


def _record(row: Sample) -> SampleRecord:
    return SampleRecord(
        at=row.at,
        versions=row.versions,
        size=row.size,
        blobs=row.blobs,
        sent=row.sent,
        uploads=row.uploads,
        refusals=row.refusals,
    )
