"""Figures about the service for metrics. No query takes longer the more versions, files or events there are."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import (
    Collection,
    Event,
    ParkedEvent,
    Subscription,
    TrashEntry,
    Version,
)
from frepo_core.domain.backups.baseline import Baseline
from frepo_core.plugins import CollectionUsage, JobStatus, ServiceStatistics

from ..backups.collections.states import count_by_state, state_column
from ..backups.rows.newest_good import newest_good
from ..content.storages.storage_space import find_free_space, free_on_disk, temporary_folder
from ..foundation import Foundation
from ..upkeep.engine.job_reports import report_jobs
from .damaged_objects import count_damaged
from .figures import Figures
from .verdict_counts import count_by_verdict


def read_statistics(base: Foundation, figures: Sequence[Figures] = ()) -> ServiceStatistics:
    """Return the figures of `Service.statistics`, also `figures` of features."""
    others = {name: value for each in figures for name, value in each.statistics().items()}
    with base.database.reading() as session:
        states = count_by_state(session, utc_now())
        collections, versions, size = session.execute(
            select(func.count(), func.sum(Collection.versions_count), func.sum(Collection.stored_size)).select_from(
                Collection
            )
        ).one()
        parked = select(ParkedEvent.subscription, func.count()).group_by(ParkedEvent.subscription)
        trash = session.execute(select(func.count(), func.sum(TrashEntry.size)).select_from(TrashEntry)).one()
        last = session.scalar(select(func.max(Event.position))) or 0
        positions = session.execute(select(Subscription.name, Subscription.position)).all()
        return ServiceStatistics(
            collections=collections,
            versions=int(versions or 0),
            size=int(size or 0),
            trash_versions=trash[0],
            trash_size=int(trash[1] or 0),
            damaged_blobs=count_damaged(session, base.backends),
            events_behind={name: max(0, last - position) for name, position in positions},
            # 0 for a subscriber without one: a metric that is missing looks like a subscriber that is missing.
            parked_events={name: 0 for name, _ in positions} | {name: count for name, count in session.execute(parked)},
            jobs=_read_jobs(session),
            storage=base.backends.current,
            free_space=find_free_space(base.backends, base.backends.current),
            temporary_space=free_on_disk(temporary_folder(base.settings)),
            collections_by_state={state.value: number for state, number in states.by_state.items()},
            versions_by_verdict=vars(count_by_verdict(session)),
            **others,
        )


def read_collection_usage(
    session: Session, limit: int, among: Sequence[str] | None = None
) -> Sequence[CollectionUsage]:
    """Return what the newest collections contain, of those with the ids `among` if they are given."""
    newest = (
        select(Version.created_at)
        .where(Version.collection_id == Collection.id, ~Version.is_quarantined)
        .order_by(Version.number.desc())
        .limit(1)
        .scalar_subquery()
    )
    state = state_column(utc_now())
    query = (
        select(Collection, newest, state, newest_good(Version.created_at))
        .order_by(Collection.created_at.desc(), Collection.id.desc())
        .limit(limit)
    )
    if among is not None:
        query = query.where(Collection.id.in_(among))
    return [
        CollectionUsage(
            id=row.id,
            name=row.filename,
            versions=row.versions_count,
            size=row.stored_size,
            newest_at=newest_at,
            max_versions=row.max_backups_count,
            max_size=row.max_collection_size,
            state=state,
            due_at=row.due_at,
            newest_good_at=good_at,
            restore_tested_at=row.restore_tested_at,
            unchanged_nights=Baseline.load(row.baseline).unchanged_nights,
        )
        for row, newest_at, state, good_at in session.execute(query)
    ]


def _read_jobs(session: Session) -> Sequence[JobStatus]:
    return [
        JobStatus(
            name=job.name,
            is_failing=job.failing_since is not None,
            next_at=job.next_at,
            last_started=job.started_at,
            last_success=job.last_success,
        )
        for job in report_jobs(session)
    ]
