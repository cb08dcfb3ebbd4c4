"""Describes records as plug-ins see them."""

from frepo_core.plugins import FileInfo, StoredVersion, TrashedVersion, VersionCheck

from ...backups.trash import entries
from ...backups.versions.version_checks import CheckRecord
from ...base.records import CollectionRecord, FileRecord, VersionRecord


def stored_version(version: VersionRecord, collection: CollectionRecord) -> StoredVersion:
    """Return a version of a collection."""
    blob = version.file.blob
    return StoredVersion(
        id=version.id,
        collection_id=version.collection_id,
        number=version.number,
        name=collection.filename,
        stored_name=version.file.stored_name,
        size=blob.size,
        sha256=blob.digest,
        mime_type=blob.mime,
        created_at=version.created_at,
        verdict=version.verdict.value,
        verdict_reason=version.verdict_reason or "",
        quarantined=version.is_quarantined,
        quarantine_reason=version.quarantine_reason,
        pinned=version.pinned,
        damaged=blob.is_damaged,
        note=version.note,
        labels=version.labels or {},
    )


def trashed_version(entry: entries.TrashedVersion) -> TrashedVersion:
    """Return a version in the trash."""
    return TrashedVersion(
        collection_id=entry.collection_id,
        number=entry.number,
        name=entry.name,
        size=entry.size,
        sha256=entry.digest,
        mime_type=entry.mime,
        created_at=entry.created_at,
        evicted_at=entry.evicted_at,
        ends_at=entry.ends_at,
        reason=entry.reason,
        verdict=entry.verdict.value,
        damaged=entry.is_damaged,
        note=entry.note,
        labels=entry.labels or {},
        locked_until=entry.locked_until,
    )


def version_check(check: CheckRecord) -> VersionCheck:
    """Return what a check has said."""
    return VersionCheck(
        number=check.version_number, name=check.name, outcome=check.outcome, message=check.message, at=check.at
    )


def file_info(file: FileRecord, *, is_new: bool = True) -> FileInfo:
    """Return a plain file."""
    return FileInfo(
        name=file.stored_name,
        requested_name=file.requested_name,
        size=file.blob.size,
        sha256=file.blob.digest,
        mime_type=file.blob.mime,
        created_at=file.created_at,
        tags=file.tags,
        public=file.public,
        is_new=is_new,
    )
