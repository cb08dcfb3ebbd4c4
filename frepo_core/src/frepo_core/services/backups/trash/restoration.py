"""Gives versions from the trash back to their collection, within a transaction."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Collection, TrashEntry, Version
from frepo_core.domain.backups.verdicts import Verdict
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By
from frepo_core.domain.sizes import readable_size
from frepo_core.errors import RestoreConflictError

from ...base.records import BlobRecord, CollectionRecord, FileRecord, VersionRecord
from ...content.objects.gate import lock_contents
from ...events.facts import version_event
from ...events.recording import NewEvent
from ...files.file_rows import insert_file
from ..rotation.evictable_versions import count_hidden
from ..rotation.newest_size import find_newest_size
from ..rows.removal import give_checks_back
from ..rows.verdicts import is_bad, judge_again, release
from ..rows.version_labels import insert_labels


def require_room(session: Session, row: Collection, entry: TrashEntry, *, is_recovered: bool = False) -> None:
    """Raise `RestoreConflictError` if the collection has no room for the version, or its number is in use.

    Next to the version, which is not evicted for some time, one of the size of the newest must fit: otherwise all
    uploads would be refused. `limits` in the context of the error are those that would be enough. One that is
    recovered as it was may be evicted by the next upload, and needs no room in quarantine or while it is pending.
    """
    collection = CollectionRecord.of(row)
    needed = _limits_of_recovered(collection, entry) if is_recovered else _limits_needed(session, collection, entry)
    if needed:
        raise RestoreConflictError(_no_room(collection, entry, needed), context={"limits": needed})
    same = select(Version.id).where(Version.collection_id == row.id, Version.number == entry.number)
    if session.scalar(same):
        raise RestoreConflictError(f"The collection has another version with the number {entry.number}")


def has_room_as_it_was(row: Collection, entry: TrashEntry) -> bool:
    """Return whether the limits of the collection have room for a version that is recovered as it was."""
    return not _limits_of_recovered(CollectionRecord.of(row), entry)


def _limits_of_recovered(collection: CollectionRecord, entry: TrashEntry) -> dict[str, int]:
    if entry.quarantine_reason or entry.verdict == Verdict.PENDING:
        return {}
    needed = {"versions": collection.versions_count + 1, "total_size": collection.stored_size + entry.size}
    limits = vars(collection.limits_in_force)
    return {name: least for name, least in needed.items() if 0 < limits[name] < least}


def _limits_needed(session: Session, collection: CollectionRecord, entry: TrashEntry) -> dict[str, int]:
    """Return the limits that are too low for the version, each with the least value that would be enough."""
    hidden = count_hidden(session, collection, utc_now())
    newest = find_newest_size(session, collection.id) or 0
    needed = {
        "version_size": entry.size,
        "versions": max(collection.versions_count + 1, hidden.count + 2),
        "total_size": max(collection.stored_size, hidden.size + newest) + entry.size,
    }
    limits = vars(collection.limits_in_force)
    too_low = {name: least for name, least in needed.items() if 0 < limits[name] < least}
    if len(too_low) == len(needed):  # who changes all three at once needs room for as many versions as large as allowed
        too_low["total_size"] = max(needed["total_size"], needed["versions"] * needed["version_size"])
    return too_low


def _no_room(collection: CollectionRecord, entry: TrashEntry, needed: Mapping[str, int]) -> str:
    """Return which limit is too low for the version, and what to do; of several limits, the first one."""
    advice = "Raise the limit{}, or delete another version first"
    limits = collection.limits
    if "version_size" in needed:
        return (
            f"The version has {readable_size(entry.size)}, {readable_size(entry.size - limits.version_size)} more than "
            "the collection allows. "
            f"{advice.format(f' (`frepo backup:edit {collection.id} --max-one-version-size {entry.size}`)')}"
        )
    if least := needed.get("versions"):
        return (
            f"The collection has {collection.versions_count} versions of {limits.versions}. With the restored version, "
            f"and room for the next upload, it needs a limit of {least} versions. "
            f"{advice.format(f' (`frepo backup:edit {collection.id} --max-backups-count {least}`)')}"
        )
    return (
        f"The collection has {readable_size(collection.stored_size)} of {readable_size(limits.total_size)}, the "
        f"version has {readable_size(entry.size)}. With room for the next upload, "
        f"{readable_size(needed['total_size'] - limits.total_size)} more are needed. {advice.format('')}"
    )


def lock_for_use(session: Session, content_ids: list[int]) -> None:
    """Lock the contents of entries, so that they stay while files begin to use them. Lock the collection later."""
    lock_contents(session, content_ids, shared=True)


def give_back(
    session: Session,
    collection: Collection,
    entry: TrashEntry,
    *,
    protected_until: datetime | None,
    by: By,
    releases: bool = False,
) -> tuple[VersionRecord, NewEvent]:
    """Insert the version of an entry, with its number and the first free stored name, and delete the entry.

    The collection and the entry are locked. The version is not evicted before `protected_until`. Returns the version
    and the event about it. `releases` says that a person wants this version, so that it becomes a normal one, and what
    was found before no longer counts. Otherwise it is as it was: in quarantine, pending, or condemned.
    """
    blob = BlobRecord.of(entry.blob)
    file = insert_file(
        session,
        blob,
        name=entry.name,
        kind="version",
        public=False,
        password_hash=entry.password_hash,
        at=utc_now(),
    )
    version = _version_of(entry, collection, file, protected_until, releases=releases)
    session.add(version)
    session.flush()
    give_checks_back(session, entry)
    if entry.labels:
        insert_labels(session, collection.id, version.id, entry.labels)
    if releases:
        release(session, version, by)
    if releases or version.verdict == Verdict.UNCHECKED:  # also of a version that code from before migration 0028 moved
        judge_again(session, version)
    _count(collection, version, entry, Verdict(version.verdict))
    session.execute(delete(TrashEntry).where(TrashEntry.id == entry.id))
    record = VersionRecord.of(version, file)
    data = {"removed": entry.reason, "removed_at": entry.evicted_at.isoformat()}
    if protected_until is not None:
        data["protected_until"] = protected_until.isoformat()
        collection.restored_until = max(protected_until, collection.restored_until or protected_until)
    return record, version_event(EventKind.VERSION_RESTORED, record, by=by, **data)


def _version_of(
    entry: TrashEntry, collection: Collection, file: FileRecord, protected_until: datetime | None, *, releases: bool
) -> Version:
    """Return the row of the version as it was; with `releases`, neither suspicious nor in quarantine."""
    return Version(
        id=entry.version_id,
        collection_id=collection.id,
        number=entry.number,
        file_id=file.id,
        created_at=entry.created_at,
        is_suspicious=bool(entry.is_suspicious) and not releases,
        pinned=False,
        pin_reason="",
        quarantined_at=entry.created_at if entry.quarantine_reason and not releases else None,
        quarantine_reason=None if releases else entry.quarantine_reason,
        note=entry.note,
        protected_until=protected_until,
        verdict=entry.verdict,
        verdict_reason=entry.verdict_reason,
        released_at=entry.released_at,
        released_by=entry.released_by,
        sent_by=entry.sent_by,
        locked_until=entry.locked_until,
        labels=entry.labels,
    )


def _count(collection: Collection, version: Version, entry: TrashEntry, verdict: Verdict) -> None:
    """Count the version as its verdict says. In quarantine, it begins no night."""
    if version.is_quarantined:
        collection.quarantined_count += 1
        collection.quarantined_size += entry.size
        return
    if verdict is Verdict.PENDING:
        version.pending_since = utc_now()
        collection.pending_count += 1
        collection.pending_size += entry.size
        return
    if is_bad(verdict):
        version.condemned_at = utc_now()
    collection.versions_count += 1
    collection.stored_size += entry.size
