"""Log texts for new objects and for the changes of an edit.

Texts from clients are quoted, so that a line break in one cannot start a new log line. Passwords are never shown.
"""

from collections.abc import Mapping

from frepo_core.db.models import Token
from frepo_core.domain.limits import COUNT, ONE, TOTAL

from .records import CollectionRecord, FileRecord


def describe(values: Mapping[str, object]) -> str:
    """Return `name value` pairs, separated by commas."""
    return ", ".join(f"{name} {value!r}" for name, value in values.items())


def collection_edit(before: CollectionRecord, after: CollectionRecord) -> str:
    """Return what an edit of a collection changed."""
    return _edit(collection_values(before), collection_values(after), before.password_hash, after.password_hash)


def collection_values(record: CollectionRecord) -> dict[str, object]:
    """Return the editable values of a collection under their names in the API. Sizes are in bytes."""
    return {
        "filename": record.filename,
        "description": record.description,
        "strategy": record.strategy,
        COUNT: record.limits.count,
        ONE: record.limits.one,
        TOTAL: record.limits.total,
        "minRetention": str(record.guards.min_retention),
        "minVersionSize": record.guards.min_version_size,
        "maxShrinkPercent": record.guards.max_shrink_percent,
        "onSuspicious": record.guards.action,
    }


def file_edit(before: FileRecord, after: FileRecord) -> str:
    """Return what an upload with `fileOverwrite` changed of a file."""
    old, new = ({"tags": list(record.tags), "public": record.public} for record in (before, after))
    return _edit(old, new, before.password_hash, after.password_hash)


def file_values(record: FileRecord) -> dict[str, object]:
    """Return the values that identify a file and its content."""
    return {
        "name": record.stored_name,
        "size": record.blob.size,
        "sha256": record.blob.digest,
        "type": record.blob.mime,
    }


def token_values(row: Token) -> dict[str, object]:
    """Return what a token may do. User-Agents are only counted, as some serve as a kind of password."""
    return {
        "roles": row.roles,
        "expires": str(row.expires_at) if row.expires_at else "never",
        "tags": row.tags,
        "types": row.mimes,
        "maxAllowedFileSize": row.max_file_size,
        "addresses": row.ip_addresses,
        "number of User-Agents": len(row.user_agents),
    }


def _edit(
    before: Mapping[str, object], after: Mapping[str, object], old_password: str | None, new_password: str | None
) -> str:
    """Return `name old -> new` for each changed value, and whether the password was set or removed."""
    changed = [f"{name} {before[name]!r} -> {after[name]!r}" for name in before if before[name] != after[name]]
    if old_password != new_password:
        changed.append("password removed" if new_password is None else "password set")
    return ", ".join(changed) or "no change"
