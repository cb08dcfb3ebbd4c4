"""What logs and events show of new objects and of the changes of an edit. Passwords are never shown.

Log texts quote what clients have sent, so that a line break cannot start a new log line.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from frepo_core.db.models import Token
from frepo_core.domain.durations import format_iso_duration

from .records import CollectionRecord, FileRecord

PASSWORD = "password"  # the name of the value
AGENTS = "userAgentsCount"


@dataclass(frozen=True, kw_only=True)
class Changes:
    """The values that an edit changed, before and after. Both are empty if it changed nothing.

    Of a password, `before` says `set` or `none`, and `after` says `set`, `replaced` or `removed`.
    """

    before: Mapping[str, object]
    after: Mapping[str, object]


def describe(values: Mapping[str, object]) -> str:
    """Return `name value` pairs, separated by commas."""
    return ", ".join(f"{name} {value!r}" for name, value in values.items())


def describe_changes(changes: Changes) -> str:
    """Return `name old -> new` for each changed value, and whether the password was set or removed."""
    texts = [f"{name} {old!r} -> {changes.after[name]!r}" for name, old in changes.before.items() if name != PASSWORD]
    if password := changes.after.get(PASSWORD):
        texts.append("password removed" if password == "removed" else "password set")
    return ", ".join(texts) or "no change"


def collection_changes(before: CollectionRecord, after: CollectionRecord) -> Changes:
    """Return what an edit of a collection changed."""
    return _changes(collection_values(before), collection_values(after), before.password_hash, after.password_hash)


def collection_values(record: CollectionRecord) -> dict[str, object]:
    """Return the editable values of a collection under their names in the API. Sizes are in bytes."""
    return {
        "filename": record.filename,
        "description": record.description,
        "strategy": record.strategy,
        **({"strategyOptions": dict(record.strategy_options)} if record.strategy_options is not None else {}),
        "maxBackupsCount": record.limits.versions,
        "maxOneVersionSize": record.limits.version_size,
        "maxCollectionSize": record.limits.total_size,
        "minRetention": str(record.guards.min_retention),
        "minVersionSize": record.guards.min_version_size,
        "maxShrinkPercent": record.guards.max_shrink_percent,
        "onSuspicious": "keep" if record.guards.action == "mark" else record.guards.action,
        **({"labels": list(record.labels)} if record.labels else {}),
        **({"expectedEvery": record.expected_every} if record.expected_every else {}),
        **({"grace": format_iso_duration(record.grace)} if record.grace is not None else {}),
    }


def file_changes(before: FileRecord, after: FileRecord) -> Changes:
    """Return what an edit, or an upload with `fileOverwrite`, changed of a file."""
    old, new = (
        {
            "name": record.stored_name,
            "requestedName": record.requested_name,
            "tags": list(record.tags),
            "public": record.public,
        }
        for record in (before, after)
    )
    return _changes(old, new, before.password_hash, after.password_hash)


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
        **({"name": row.name} if row.name else {}),
        "roles": row.roles,
        "expires": str(row.expires_at) if row.expires_at else "never",
        "tags": row.tags,
        "types": row.mimes,
        "maxAllowedFileSize": row.max_file_size,
        "addresses": row.ip_addresses,
        AGENTS: len(row.user_agents),
    }


def token_changes(before: Token, after: Token) -> Changes:
    """Return what an edit of a token changed. Patterns of User-Agents that were replaced show as their number."""
    changes = _changes(token_values(before), token_values(after), None, None)
    if before.user_agents != after.user_agents and AGENTS not in changes.after:
        old, new = {AGENTS: len(before.user_agents)}, {AGENTS: len(after.user_agents)}
        return Changes(before={**changes.before, **old}, after={**changes.after, **new})
    return changes


def _changes(
    before: Mapping[str, object], after: Mapping[str, object], old_password: str | None, new_password: str | None
) -> Changes:
    # A value may be on one side only, such as the options of a strategy that has none.
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    old, new = {name: before.get(name) for name in names}, {name: after.get(name) for name in names}
    if old_password != new_password:
        old[PASSWORD] = "none" if old_password is None else "set"
        new[PASSWORD] = "removed" if new_password is None else "set" if old_password is None else "replaced"
    return Changes(before=old, after=new)
