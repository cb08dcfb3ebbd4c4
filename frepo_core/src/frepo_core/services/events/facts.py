"""Builds the events about collections, versions and files from their records."""

from typing import Any

from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import By

from ..base.change_log import file_values
from ..base.records import FileRecord, VersionRecord
from .recording import NewEvent


def collection_event(kind: EventKind, collection_id: str, *, by: By, token: str | None = None, **data: Any) -> NewEvent:
    """Return an event about a collection, or about a token (a fingerprint) on its list."""
    return NewEvent(kind=kind, by=by, collection_id=collection_id, token=token, data=data)


def version_event(kind: EventKind, version: VersionRecord, *, by: By, **data: Any) -> NewEvent:
    """Return an event about a version, with its name, size, digest and type."""
    return NewEvent(
        kind=kind,
        by=by,
        collection_id=version.collection_id,
        version_number=version.number,
        file_id=version.file.id,
        data={**file_values(version.file), **data},
    )


def file_event(kind: EventKind, file: FileRecord, *, by: By, **data: Any) -> NewEvent:
    """Return an event about a file, with its name, size, digest and type."""
    return NewEvent(kind=kind, by=by, file_id=file.id, data={**file_values(file), **data})
