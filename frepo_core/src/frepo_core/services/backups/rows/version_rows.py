"""Finds, inserts and deletes the rows of versions, within a transaction."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Select, delete, false, func, select
from sqlalchemy.orm import Session, joinedload

from frepo_core.db.models import Collection, File, Version
from frepo_core.db.row_inserts import insert_of, insert_rows
from frepo_core.domain.backups.verdicts import Judgement
from frepo_core.domain.identity import Identity, new_uuid4
from frepo_core.domain.naming import version_name
from frepo_core.errors import OutdatedDecisionError, VersionPinnedError, VersionTooYoungError
from frepo_core.plugins import IncomingVersion, VersionInfo

from ...base.records import BlobRecord, CollectionRecord, VersionRecord
from ...content.objects.damage import mark_lost_files
from ...content.objects.states import DELTA
from ...files.file_rows import insert_file
from .expected_backups import set_arrived
from .holds import require_no_hold
from .locks import end_of_new, require_removable
from .quarantine import OVERTAKEN, end_nights, enter_quarantine, is_overtaken
from .verdicts import BAD, note_verdict
from .version_labels import insert_labels
from .version_values import NO_VALUES, VersionValues

# Called with a locked version before a change; what it raises prevents the change.
VersionPrecondition: TypeAlias = Callable[[VersionRecord], None] | None
_INSERT = insert_of(Version)
_ROTATES = Version.is_counted | is_overtaken()


def select_with_files() -> Select[Version]:
    """Return a query for versions with their files and blobs loaded."""
    return select(Version).options(joinedload(Version.file).joinedload(File.blob))


def records_of(session: Session, rows: Iterable[Version]) -> list[VersionRecord]:
    """Make records of rows. One that is stored as the difference to what is lost is damaged, too."""
    records = [VersionRecord.of(row) for row in rows]
    if DELTA not in [record.file.blob.encoding for record in records]:
        return records
    marked = zip(records, mark_lost_files(session, [record.file for record in records]), strict=True)
    return [record if file is record.file else replace(record, file=file) for record, file in marked]


def is_restored(now: datetime) -> ColumnElement[bool]:
    """Return the condition that a version was restored from the trash lately, and is treated as a pinned one for that.

    If it were only protected, as young versions are, uploads would be refused that must evict it.
    """
    return func.coalesce(Version.protected_until > now, false())


def has_content(session: Session, collection_id: str, blob: BlobRecord) -> bool:
    """Return whether the collection has a version with this content. Versions in quarantine do not count."""
    query = select(Version.id).join(File).where(Version.collection_id == collection_id, File.content_id == blob.id)
    query = query.where(~Version.is_quarantined)
    return session.scalar(query.limit(1)) is not None


def find_evicted(
    session: Session, collection: Collection, evicted: Sequence[VersionInfo], *, now: datetime
) -> Sequence[Version]:
    """Return the rows of the versions that leave by the answer of the strategy.

    Raises `OutdatedDecisionError` if one of them was deleted, pinned, put under protection or released since it was
    asked.
    """
    if not evicted:
        return []
    ids = [version.id for version in evicted]
    query = select_with_files().where(Version.collection_id == collection.id, Version.id.in_(ids))
    query = query.where(Version.pinned.is_(False), _ROTATES, ~is_restored(now))
    rows = session.scalars(query.order_by(Version.number)).all()
    bad = {version.id for version in evicted if version.is_bad}
    if len(rows) != len(evicted) or any(row.id in bad and row.verdict not in BAD for row in rows):
        raise OutdatedDecisionError("Others change this collection all the time, try again later")
    return rows


def find_surplus(session: Session, collection: Collection, *, keep: int, of_overtaken: bool) -> Sequence[Version]:
    """Return the versions in quarantine but the newest `keep`, with their files and blobs loaded, the oldest first.

    Those that were overtaken drive out none that a person has to look at. Rotation decides about them while nothing
    speaks against their content; the others have places of their own.
    """
    if collection.quarantined_count <= keep or collection.held_since is not None:
        return []
    reason = Version.quarantine_reason == OVERTAKEN
    among = reason & ~is_overtaken() if of_overtaken else ~reason
    quarantined = select_with_files().where(Version.collection_id == collection.id, Version.is_quarantined, among)
    rows = session.scalars(quarantined.order_by(Version.number)).all()
    return rows[: max(len(rows) - keep, 0)]


def find_pending_surplus(session: Session, collection: Collection, *, keep: int, now: datetime) -> Sequence[Version]:
    """Return the pending versions but the newest `keep`, the oldest first; not those that are pinned.

    Raises `VersionTooYoungError` if one of them is too young to leave, and `VersionLockedError` if one is locked:
    nothing else bounds how many are pending. None leaves a collection on hold.
    """
    if collection.held_since is not None:
        return []
    rows = select_pending(session, collection, limit=collection.pending_count - keep)
    guards = CollectionRecord.of(collection).guards
    if any(guards.protects(row.created_at, now=now) for row in rows):
        raise VersionTooYoungError()
    require_removable(session, rows)
    return rows


def select_pending(session: Session, collection: Collection, *, limit: int) -> Sequence[Version]:
    """Return the oldest pending versions that are not pinned, with their files and blobs loaded."""
    if limit <= 0:
        return []
    pending = select_with_files().where(Version.collection_id == collection.id, Version.pending_since.is_not(None))
    return session.scalars(pending.where(Version.pinned.is_(False)).order_by(Version.number).limit(limit)).all()


def insert_version(
    session: Session,
    collection: Collection,
    blob: BlobRecord,
    incoming: IncomingVersion,
    *,
    judgement: Judgement,
    is_suspicious: bool,
    waits: bool = False,
    quarantine_reason: str | None = None,
    by: Identity,
    values: VersionValues = NO_VALUES,
) -> VersionRecord:
    """Insert the version under the next number, which is never used again, and update the collection's counters.

    `waits` says that its verdict is pending, so that limits do not count it yet. `values` are what its sender chose.
    """
    collection.last_number += 1
    now = incoming.created_at
    if quarantine_reason:
        enter_quarantine(collection, blob.size, quarantine_reason, now=now)
    else:
        _count(collection, blob.size, waits=waits)
        set_arrived(collection, now)
        end_nights(collection)
    if quarantine_reason != OVERTAKEN:
        note_verdict(collection, judgement, at=now)
    name = version_name(collection.filename, collection.last_number)
    file = insert_file(
        session, blob, name=name, kind="version", public=False, password_hash=collection.password_hash, at=now
    )
    columns: dict[str, Any] = {
        "id": new_uuid4(),
        "collection_id": collection.id,
        "number": collection.last_number,
        "created_at": now,
        "is_suspicious": is_suspicious,
        "pinned": False,
        "pin_reason": "",
        "quarantined_at": now if quarantine_reason else None,
        "quarantine_reason": quarantine_reason,
        "note": values.note,
        "verdict": judgement.verdict,
        "verdict_reason": judgement.reason or None,
        "pending_since": now if waits else None,
        "locked_until": end_of_new(session, collection) if collection.locked else None,
        "labels": dict(values.labels) or None,
    }
    sent_by = by.client if by.token else None
    insert_rows(session, _INSERT, [{**columns, "file_id": file.id, "sent_by": sent_by}])
    if values.labels:
        insert_labels(session, collection.id, columns["id"], values.labels)
    return VersionRecord(file=file, **columns)


def _count(collection: Collection, size: int, *, waits: bool) -> None:
    if waits:
        collection.pending_count += 1
        collection.pending_size += size
    else:
        collection.versions_count += 1
        collection.stored_size += size


def delete_versions(session: Session, collection: Collection, rows: Sequence[Version]) -> list[int]:
    """Delete the rows of versions and of their files; return the ids of the blobs that these files used.

    Raises `VersionPinnedError` if one of them is pinned, `VersionLockedError` if one is locked, and
    `CollectionHeldError` if the collection is on hold.
    """
    if rows:
        require_no_hold(collection)
    if any(row.locked_until for row in rows):
        require_removable(session, rows)
    if any(row.pinned for row in rows):
        raise VersionPinnedError()
    file_ids = [row.file_id for row in rows]
    released_content_ids = [row.file.content_id for row in rows]
    sizes = [row.file.blob.size for row in rows]
    quarantined = [row.file.blob.size for row in rows if row.quarantined_at is not None]
    pending = [row.file.blob.size for row in rows if row.pending_since is not None]
    collection.versions_count -= len(sizes) - len(quarantined) - len(pending)
    collection.stored_size -= sum(sizes) - sum(quarantined) - sum(pending)
    collection.quarantined_count -= len(quarantined)
    collection.quarantined_size -= sum(quarantined)
    collection.pending_count -= len(pending)
    collection.pending_size -= sum(pending)
    if any(session.is_modified(row) for row in rows):
        session.flush()
    if rows:
        with session.no_autoflush:  # the counters change again when a version is added
            session.execute(delete(Version).where(Version.id.in_([row.id for row in rows])))
            session.execute(delete(File).where(File.id.in_(file_ids)))
    return released_content_ids
