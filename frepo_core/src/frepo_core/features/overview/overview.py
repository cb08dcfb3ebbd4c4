"""The overview: the state and the sizes of the service, for operators, and the history of sizes."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import select

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Sample
from frepo_core.domain.structs import struct
from frepo_core.services.backups.collections.states import (
    StateCounts,
    count_by_state,
)
from frepo_core.services.base.keyset import Page, PageRequest, cut, paged
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.content.storages.storage_space import find_free_space, find_total_space
from frepo_core.services.reports.damaged_objects import count_damaged
from frepo_core.services.reports.sizes import Sizes, read_sizes
from frepo_core.services.reports.verdict_counts import VerdictCounts, count_by_verdict
from frepo_core.services.upkeep.engine.job_reports import find_failing_jobs

from ..compact.compact_space import CompactSpace, CompactSpaces
from ..second_copies.copy_reports import CopyFigures, CopyReports
from .activity import Activity, count_recent
from .growth import CollectionUsage, Growth, collection_usage, service_growth

# Only so many collections are named, the worst ones. `frepo backup:list --state STATE` lists all.
NAMED = 20
DAY, MONTH = timedelta(days=1), timedelta(days=30)


@struct
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


@struct
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


class Overviews:
    """Reads figures about the whole service. No figure takes longer the more versions, files or events there are."""

    def __init__(self, database: Database, backends: Backends, copies: CopyReports, compact: CompactSpaces) -> None:
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
                sizes=read_sizes(session, self._backends, now, least=collections.versions),
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
