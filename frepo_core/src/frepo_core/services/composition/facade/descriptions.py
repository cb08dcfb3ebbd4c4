"""Describes records as plug-ins see them."""

from frepo_core.plugins import FileInfo, StoredVersion

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
