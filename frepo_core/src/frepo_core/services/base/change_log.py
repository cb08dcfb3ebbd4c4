"""What logs and events show of new objects and of the changes of an edit. Passwords are never shown.

Log texts quote what clients have sent, so that a line break cannot start a new log line.
"""

from collections.abc import Mapping

from frepo_core.db.models import Token
from frepo_core.domain.durations import format_iso_duration
from frepo_core.domain.structs import struct
from frepo_core.plugins import without_old_keys

from .records import CollectionRecord, FileRecord

PASSWORD = "password"  # the name of the value
AGENTS = ("user_agents_count", "userAgentsCount")


@struct
class Changes:
    """The values that an edit changed, before and after. Both are empty if it changed nothing.

    Of a password, `before` says `set` or `none`, and `after` says `set`, `replaced` or `removed`.
    """

    before: Mapping[str, object]
    after: Mapping[str, object]


def describe(values: Mapping[str, object]) -> str:
    """Return `name value` pairs, separated by commas."""
    return _pairs(without_old_keys(values))


def describe_file(record: FileRecord) -> str:
    """Return what identifies a file and its content, as `describe` writes it."""
    return _pairs(file_values(record))


def describe_changes(changes: Changes) -> str:
    """Return `name old -> new` for each changed value, and whether the password was set or removed."""
    before = without_old_keys(changes.before)
    texts = [f"{name} {old!r} -> {changes.after[name]!r}" for name, old in before.items() if name != PASSWORD]
    if password := changes.after.get(PASSWORD):
        texts.append("password removed" if password == "removed" else "password set")
    return ", ".join(texts) or "no change"


def collection_changes(before: CollectionRecord, after: CollectionRecord) -> Changes:
    """Return what an edit of a collection changed."""
    return _changes(collection_values(before), collection_values(after), before.password_hash, after.password_hash)


def shown_changes(before: CollectionRecord, after: CollectionRecord) -> Changes:
    """Return what an edit of a collection changed, each value under its newest name only."""
    found = collection_changes(before, after)
    return Changes(before=without_old_keys(found.before), after=without_old_keys(found.after))


def collection_values(record: CollectionRecord) -> dict[str, object]:
    """Return the editable values of a collection under their names in `/api/v1` and, next to them, those of old events.

    Sizes are in bytes.
    """
    limits, guards, options = record.limits, record.guards, record.strategy_options
    return {
        "name": record.filename,
        "filename": record.filename,
        "description": record.description,
        "strategy": record.strategy,
        **(_both("strategy_options", "strategyOptions", dict(options)) if options is not None else {}),
        **_both("versions", "maxBackupsCount", limits.versions),
        **_both("version_size", "maxOneVersionSize", limits.version_size),
        **_both("total_size", "maxCollectionSize", limits.total_size),
        "min_retention": format_iso_duration(guards.min_retention),
        "minRetention": str(guards.min_retention),
        **_both("min_version_size", "minVersionSize", guards.min_version_size),
        **_both("max_shrink_percent", "maxShrinkPercent", guards.max_shrink_percent),
        **({"max_growth_percent": guards.max_growth_percent} if guards.max_growth_percent else {}),
        **({"expects_kind": True} if guards.expects_kind else {}),
        **({"expects_change": True} if guards.expects_change else {}),
        **({"max_decline_percent": guards.max_decline_percent} if guards.max_decline_percent else {}),
        **({"max_unchanged": format_iso_duration(guards.max_unchanged)} if guards.max_unchanged else {}),
        "on_suspicious": guards.action,
        "onSuspicious": "keep" if guards.action == "mark" else guards.action,
        **({"locked": format_iso_duration(record.locked)} if record.locked else {}),
        **({"labels": list(record.labels)} if record.labels else {}),
        **(_both("expected_every", "expectedEvery", record.expected_every) if record.expected_every else {}),
        **({"storage": record.storage} if record.storage else {}),
        **({"mirror": record.mirror} if record.mirror else {}),
        **({"fleet_key": record.fleet_key} if record.fleet_key else {}),
        **({"compact_group": record.compact_group} if record.compact_group else {}),
        **({"trash_keep": format_iso_duration(record.trash_keep)} if record.trash_keep is not None else {}),
        **({"grace": format_iso_duration(record.grace)} if record.grace is not None else {}),
    }


def file_changes(before: FileRecord, after: FileRecord) -> Changes:
    """Return what an edit, or an upload with `fileOverwrite`, changed of a file."""
    old, new = (
        {
            "name": record.stored_name,
            **_both("requested_name", "requestedName", record.requested_name),
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
        **({"fleet_key": row.fleet_key} if row.fleet_key else {}),
        "roles": row.roles,
        "expires_at": row.expires_at.isoformat() if row.expires_at else None,
        "expires": str(row.expires_at) if row.expires_at else "never",
        "tags": row.tags,
        **_both("mime_types", "types", row.mimes),
        **_both("max_file_size", "maxAllowedFileSize", row.max_file_size),
        **_both("ip_addresses", "addresses", row.ip_addresses),
        **_both(*AGENTS, len(row.user_agents)),
    }


def token_changes(before: Token, after: Token) -> Changes:
    """Return what an edit of a token changed. Patterns of User-Agents that were replaced show as their number."""
    changes = _changes(token_values(before), token_values(after), None, None)
    if before.user_agents != after.user_agents and AGENTS[0] not in changes.after:
        old, new = _both(*AGENTS, len(before.user_agents)), _both(*AGENTS, len(after.user_agents))
        return Changes(before={**changes.before, **old}, after={**changes.after, **new})
    return changes


def _pairs(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value!r}" for name, value in values.items())


def _both(name: str, old_name: str, value: object) -> dict[str, object]:
    return {name: value, old_name: value}


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
