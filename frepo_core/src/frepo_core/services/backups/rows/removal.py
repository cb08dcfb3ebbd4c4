"""Removes versions from a collection: into the trash, or for good if the trash is off."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import Text, cast, insert, select
from sqlalchemy.orm import Session

from frepo_core.db.models import Collection, TrashCheck, TrashEntry, Version, VersionCheck
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By
from frepo_core.domain.structs import struct

from ...base.records import VersionRecord
from ...events.actors import actor_of
from ...events.facts import version_event
from ...events.recording import NewEvent
from .trash_keep import shorter_of
from .verdicts import is_bad
from .version_rows import delete_versions


class TrashReason(StrEnum):
    """Why a version is in the trash."""

    EVICTED = "evicted"
    DELETED = "deleted"
    COLLECTION_DELETED = "collection_deleted"
    QUARANTINE_SURPLUS = "quarantine_surplus"
    UNJUDGED_SURPLUS = "unjudged_surplus"


# What a person has decided. On a storage that is nearly full, these entries end last.
ON_REQUEST = (TrashReason.DELETED, TrashReason.COLLECTION_DELETED)


@struct
class Removed:
    """What became of removed versions: `ends_at` is until when they can be restored (UTC), None if they cannot.

    `released_content_ids` are blobs that perhaps nothing uses any more; collect them after the commit.
    """

    ends_at: datetime | None
    released_content_ids: Sequence[int]

    @property
    def event_data(self) -> dict[str, str]:
        """What the events about these versions say of it."""
        return {"ends_at": self.ends_at.isoformat()} if self.ends_at else {}


def move_to_trash(
    session: Session,
    collection: Collection,
    rows: Sequence[Version],
    *,
    reason: TrashReason,
    by: By,
    keep: timedelta,
    now: datetime,
) -> Removed:
    """Remove versions from their collection, which is locked, and keep them in the trash for the time `keep`.

    That is shorter if the collection says so, but not if it is deleted itself, which is the greatest mistake.

    If that is zero, delete them for good. Load the rows with `select_with_files`, so that they need no further query.
    """
    if reason is not TrashReason.COLLECTION_DELETED:
        keep = shorter_of(collection, keep)
    if keep and rows:
        incarnation, numbers = incarnation_of(collection), [row.number for row in rows]
        entries = [_entry(collection, row, reason, by, now, now + keep) for row in rows]
        session.execute(insert(TrashEntry), entries)
        keep_checks(session, incarnation, numbers)
    released = delete_versions(session, collection, rows)
    return (
        Removed(ends_at=now + keep, released_content_ids=())
        if keep
        else Removed(ends_at=None, released_content_ids=released)
    )


def eviction_events(rows: Sequence[VersionRecord], removed: Removed, *, by: By, **data: Any) -> list[NewEvent]:
    """Return the events about versions that were evicted, with what was known against them."""
    ending = removed.event_data
    return [
        version_event(
            EventKind.VERSION_EVICTED,
            row,
            by=by,
            **data,
            **({"verdict": row.verdict.value} if is_bad(row.verdict) else {}),
            **ending,
        )
        for row in rows
    ]


def incarnation_of(collection: Collection) -> str:
    """Return what distinguishes a collection from others that had its id before."""
    return collection.incarnation or collection.id


def _entry(
    collection: Collection, row: Version, reason: TrashReason, by: By, now: datetime, ends_at: datetime
) -> dict[str, Any]:
    file = row.file
    return {
        "collection_id": collection.id,
        "incarnation": incarnation_of(collection),
        "number": row.number,
        "content_id": file.content_id,
        "size": file.blob.size,
        "digest": file.blob.digest,
        "reason": reason.value,
        "evicted_at": now,
        "evicted_by": actor_of(by),
        "ends_at": ends_at,
        "version_id": row.id,
        "name": file.requested_name,
        "password_hash": file.password_hash,
        "created_at": row.created_at,
        "is_suspicious": row.is_suspicious,
        "quarantine_reason": row.quarantine_reason,
        "note": row.note,
        "verdict": row.verdict,
        "verdict_reason": row.verdict_reason,
        "released_at": row.released_at,
        "released_by": row.released_by,
        "sent_by": row.sent_by,
        "locked_until": row.locked_until,
        "labels": row.labels,
        "checks": [],
    }


_COLUMNS = ("name", "outcome", "message", "details", "at", "actor", "is_of_service", "covers", "attempts")


def keep_checks(session: Session, incarnation: str, numbers: Sequence[int]) -> None:
    """Copy the results of versions to their entries, which are inserted already. The versions are not deleted yet."""
    found = select(TrashEntry.id, *_columns(VersionCheck)).join(
        VersionCheck, VersionCheck.version_id == TrashEntry.version_id
    )
    found = found.where(TrashEntry.incarnation == incarnation, TrashEntry.number.in_(numbers))
    session.execute(insert(TrashCheck).from_select(["trash_id", *_COLUMNS], found))


def give_checks_back(session: Session, entry: TrashEntry) -> None:
    """Copy the results of an entry to its version, which is inserted already."""
    kept = select(TrashEntry.version_id, *_columns(TrashCheck)).join(TrashCheck, TrashCheck.trash_id == TrashEntry.id)
    kept = kept.where(TrashEntry.id == entry.id)
    session.execute(insert(VersionCheck).from_select(["version_id", *_COLUMNS], kept))
    _give_earlier_back(session, entry)


def _give_earlier_back(session: Session, entry: TrashEntry) -> None:
    """Insert the results that code from before migration 0026 has kept within the entry."""
    query = select(TrashEntry.checks).where(TrashEntry.id == entry.id, cast(TrashEntry.checks, Text) != "[]")
    if checks := session.scalar(query):
        rows = [{**one, "version_id": entry.version_id, "at": datetime.fromisoformat(one["at"])} for one in checks]
        session.execute(insert(VersionCheck), rows)


def _columns(model: type[VersionCheck | TrashCheck]) -> list[Any]:
    return [getattr(model, name) for name in _COLUMNS]
