"""Copies the row of a collection as JSON, so that a deleted collection can be restored with all its settings."""

from datetime import datetime
from typing import Any

from frepo_core.db.models import Collection

# They follow from the versions, which are restored separately.
_COUNTERS = (
    "versions_count",
    "stored_size",
    "pinned_count",
    "pinned_size",
    "quarantined_count",
    "quarantined_size",
    "pending_count",
    "pending_size",
)
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
    return Collection(**(values | dict.fromkeys(_COUNTERS, 0) | dict.fromkeys(_FORGOTTEN)))


def _parse(name: str, value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {"time"} and name != "strategy_options":
        return datetime.fromisoformat(value["time"])
    return value
