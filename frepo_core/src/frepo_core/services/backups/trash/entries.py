"""The entries of the trash as records, and what ends them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Select, bindparam, delete, func, select
from sqlalchemy.orm import Session, joinedload

from frepo_core.db.models import Collection, TrashEntry
from frepo_core.domain.backups.verdicts import Verdict
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By

from ...base.records import BlobRecord, TrashedFile
from ...content.objects.damage import mark_lost
from ...events.recording import NewEvent, record
from ..rows.holds import require_none_held
from ..rows.locks import require_removable

_SIZES = (
    select(Collection.id, func.sum(TrashEntry.size))
    .join(TrashEntry, TrashEntry.incarnation == func.coalesce(Collection.incarnation, Collection.id))
    .where(Collection.id.in_(bindparam("ids", expanding=True)))
    .group_by(Collection.id)
)


class EndReason(StrEnum):
    """Why an entry has ended: its time was over, the storage needed its room, or a person requested it."""

    TIME = "time"
    NO_SPACE = "no_space"
    REQUEST = "request"


@dataclass(frozen=True, kw_only=True)
class TrashedVersion:
    """A version in the trash. Times are UTC (aware), `size` is in bytes, `reason` is one of `TrashReason`.

    `evicted_by` is as the actor of an event. `is_damaged` says that the bytes were found to be wrong or missing.
    """

    collection_id: str
    number: int
    name: str
    size: int
    digest: str
    mime: str
    created_at: datetime
    evicted_at: datetime
    evicted_by: str
    ends_at: datetime
    reason: str
    note: str
    is_suspicious: bool
    is_damaged: bool
    verdict: Verdict
    quarantine_reason: str | None
    locked_until: datetime | None = None
    labels: Mapping[str, str] | None = None

    @classmethod
    def of(cls, row: TrashEntry) -> "TrashedVersion":
        """Make a record of a row, whose blob is loaded."""
        return cls(
            collection_id=row.collection_id,
            number=row.number,
            name=row.name,
            size=row.size,
            digest=row.digest,
            mime=row.blob.mime,
            created_at=row.created_at,
            evicted_at=row.evicted_at,
            evicted_by=row.evicted_by,
            ends_at=row.ends_at,
            reason=row.reason,
            note=row.note,
            is_suspicious=bool(row.is_suspicious),
            is_damaged=BlobRecord.of(row.blob).is_damaged,
            verdict=Verdict(row.verdict),
            quarantine_reason=row.quarantine_reason,
            locked_until=row.locked_until,
            labels=row.labels,
        )


def records_of(session: Session, rows: Iterable[TrashEntry]) -> list[TrashedVersion]:
    """Make records of rows with their blobs. One that is stored as the difference to what is lost is damaged, too."""
    records = [(TrashedVersion.of(row), BlobRecord.of(row.blob)) for row in rows]
    blobs = mark_lost(session, [blob for _, blob in records])
    return [replace(one, is_damaged=blob.is_damaged) for (one, _), blob in zip(records, blobs, strict=True)]


def select_with_blobs() -> Select[TrashEntry]:
    """Return a query for entries with their blobs loaded."""
    return select(TrashEntry).options(joinedload(TrashEntry.blob))


def read_sizes(session: Session, ids: Iterable[str]) -> Mapping[str, int]:
    """Return the bytes in the trash of collections, by their ids. Equal contents count each time; 0 is left out."""
    found = session.execute(_SIZES, {"ids": list(ids)})
    return {collection: int(size) for collection, size in found}


def end_entries(session: Session, rows: Sequence[TrashEntry], why: EndReason, *, now: datetime, by: By) -> list[int]:
    """Delete entries, whose rows the transaction has locked, with an event for each; return the ids of their blobs.

    Collect the blobs after the commit. Raises `VersionLockedError` if the lock of one of the versions is not over, and
    `CollectionHeldError` if one of the collections is on hold.
    """
    require_removable(session, rows)
    require_none_held(session, rows)
    if rows:
        record(session, *(_ended(row, why, now, by) for row in rows))
        session.execute(delete(TrashEntry).where(TrashEntry.id.in_([row.id for row in rows])))
    return [row.content_id for row in rows]


def _ended(row: TrashEntry, why: EndReason, now: datetime, by: By) -> NewEvent:
    return NewEvent(
        kind=EventKind.TRASH_ENDED,
        by=by,
        collection_id=row.collection_id,
        version_number=row.number,
        data={
            "name": row.name,
            "size": row.size,
            "sha256": row.digest,
            "reason": why.value,
            "early": row.ends_at > now,
            "removed": row.reason,
            "removed_at": row.evicted_at.isoformat(),
        },
    )


def trashed_file(row: TrashEntry) -> TrashedFile:
    """Return the file of an entry whose blob is loaded."""
    return TrashedFile(
        id=0,
        stored_name=row.name,
        requested_name=row.name,
        public=False,
        is_version=True,
        created_at=row.created_at,
        blob=BlobRecord.of(row.blob),
        password_hash=row.password_hash,
        collection_id=row.collection_id,
        incarnation=row.incarnation,
        number=row.number,
    )
