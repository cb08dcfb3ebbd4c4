"""Removes a collection with its versions: into the trash, or for good if the trash is off."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, insert, literal, select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import (
    Collection,
    CollectionToken,
    DeletedCollection,
    DeletedCollectionToken,
    TrashEntry,
    Version,
)
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By
from frepo_core.errors import CollectionNotEmptyError, VersionTooYoungError

from ...base.change_log import collection_values
from ...base.records import CollectionRecord, VersionRecord
from ...events.actors import actor_of
from ...events.facts import collection_event, version_event
from ...events.recording import record
from ..rows.counters import COUNTERS
from ..rows.holds import require_no_hold
from ..rows.locks import require_removable
from ..rows.removal import TrashReason, incarnation_of, move_to_trash
from ..rows.version_rows import select_with_files


@dataclass(frozen=True, kw_only=True)
class RemovedCollection:
    """A collection that was deleted, and the number of its versions that went with it."""

    collection: CollectionRecord
    versions: int


def remove_collection(
    session: Session, row: Collection, *, with_versions: bool, keep: timedelta, by: By, simulate: bool
) -> RemovedCollection:
    """Delete a collection, whose row is locked, and record that. Its id is free then.

    Raises `VersionLockedError` if a version of it is locked, also one in its trash. Raises `CollectionNotEmptyError` if
    it has versions, unless they go with it into the trash. Without a trash they cannot. Raises `VersionTooYoungError`
    if one of them is younger than the minimal retention, and `CollectionHeldError` if it is on hold, also an empty one.
    """
    require_no_hold(row)
    deleted = CollectionRecord.of(row)
    if (row.versions_count or row.quarantined_count or row.pending_count) and not (with_versions and keep):
        raise CollectionNotEmptyError()
    versions = session.scalars(select_with_files().where(Version.collection_id == row.id)).all()
    trashed = select(TrashEntry).where(
        TrashEntry.incarnation == incarnation_of(row), TrashEntry.locked_until.is_not(None)
    )
    require_removable(session, [*versions, *session.scalars(trashed)])
    # Each version is deleted, so what protects a version from its deletion protects the collection, too.
    if any(deleted.guards.protects(version.created_at, now=utc_now()) for version in versions):
        raise VersionTooYoungError()
    removed = RemovedCollection(collection=deleted, versions=len(versions))
    if simulate:
        return removed
    _remove_versions(session, row, versions, keep=keep, by=by)
    ends_at = utc_now() + keep
    if keep:
        _keep(session, row, by, ends_at - keep, ends_at)
    session.execute(delete(CollectionToken).where(CollectionToken.collection_id == row.id))
    session.delete(row)
    data: dict[str, Any] = {"versions": len(versions), "ends_at": ends_at.isoformat()} if keep else {}
    before = collection_values(deleted)
    record(session, collection_event(EventKind.COLLECTION_DELETED, row.id, by=by, before=before, **data))
    return removed


def _remove_versions(
    session: Session, row: Collection, versions: Sequence[Version], *, keep: timedelta, by: By
) -> None:
    if not versions:
        return
    records = [VersionRecord.of(version) for version in sorted(versions, key=lambda version: version.number)]
    removed = move_to_trash(
        session, row, versions, reason=TrashReason.COLLECTION_DELETED, by=by, keep=keep, now=utc_now()
    )
    events = [version_event(EventKind.VERSION_DELETED, each, by=by, **removed.event_data) for each in records]
    record(session, *events)


def _keep(session: Session, row: Collection, by: By, now: datetime, ends_at: datetime) -> None:
    """Keep the settings of the collection and its list of tokens."""
    incarnation = incarnation_of(row)
    kept = DeletedCollection(
        incarnation=incarnation,
        collection_id=row.id,
        name=row.filename,
        description=row.description,
        settings=copy_of(row),
        deleted_at=now,
        deleted_by=actor_of(by),
        ends_at=ends_at,
    )
    session.add(kept)
    session.flush()
    listed = select(literal(incarnation), CollectionToken.token_key).where(CollectionToken.collection_id == row.id)
    columns = [DeletedCollectionToken.incarnation, DeletedCollectionToken.token_key]
    session.execute(insert(DeletedCollectionToken).from_select(columns, listed))


# They are about uploads and restored versions from before the deletion.
_FORGOTTEN = ("full_since", "restored_until")


def copy_of(row: Collection) -> dict[str, Any]:
    """Return the columns of a collection as JSON."""
    values = {column.key: getattr(row, column.key) for column in Collection.__mapper__.column_attrs}
    return {
        name: {"time": value.isoformat()} if isinstance(value, datetime) else value for name, value in values.items()
    }


def collection_from(copy: dict[str, Any]) -> Collection:
    """Make the row of an empty collection from a copy, which an earlier version of frepo may have made."""
    known = {column.key for column in Collection.__mapper__.column_attrs}
    values = {name: _parse(name, value) for name, value in copy.items() if name in known}
    return Collection(**(values | dict.fromkeys(COUNTERS, 0) | dict.fromkeys(_FORGOTTEN)))


def _parse(name: str, value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {"time"} and name != "strategy_options":
        return datetime.fromisoformat(value["time"])
    return value
