"""What a plug-in has stored under an idempotency key, recorded in the transaction that stores it."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from frepo_core.plugins import FileInfo, StoredVersion

from ...base.idempotency import IdempotentUpload, RecordedAnswer
from ...base.records import CollectionRecord
from .descriptions import file_info, stored_version

# Commands that store nothing need not import these.
if TYPE_CHECKING:
    from ...backups.versions.add_version import AddedVersion, IdempotentVersion
    from ...files.file_upload import AddedFile

_VERSION: TypeAdapter[StoredVersion] = TypeAdapter(StoredVersion)
_FILE: TypeAdapter[FileInfo] = TypeAdapter(FileInfo)


def idempotent_version(key: str, plugin: str, collection: CollectionRecord) -> "IdempotentVersion":
    """Return the key of a version. It does not count for another plug-in or another collection with the same id."""

    def serialize(added: "AddedVersion") -> dict[str, Any]:
        stored = stored_version(added.version, collection)
        return {"version": _VERSION.dump_python(stored, mode="json"), "file_id": added.version.file.id}

    scope = f"plugin {plugin} {collection.id} {collection.created_at.isoformat()}"
    return IdempotentUpload(key=key, scope=scope, serialize=serialize)


def idempotent_file(key: str, plugin: str) -> "IdempotentUpload[AddedFile]":
    """Return the key of a plain file."""

    def serialize(added: "AddedFile") -> dict[str, Any]:
        stored = file_info(added.file, is_new=not added.existed)
        return {"file": _FILE.dump_python(stored, mode="json"), "file_id": added.file.id}

    return IdempotentUpload(key=key, scope=f"plugin {plugin} file", serialize=serialize)


def recorded_version(recorded: RecordedAnswer) -> StoredVersion:
    """Return the version of a recorded answer, as it was when it was stored."""
    return replace(_VERSION.validate_python(recorded.answer["version"]), removed=recorded.is_removed)


def recorded_file(recorded: RecordedAnswer) -> FileInfo:
    """Return the plain file of a recorded answer, as it was when it was stored."""
    return replace(_FILE.validate_python(recorded.answer["file"]), removed=recorded.is_removed)
