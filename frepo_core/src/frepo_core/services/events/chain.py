"""The chain over the events: the link of each is a digest of its canonical form and of the link before.

Whoever changes, leaves out or swaps an event has to make all links after it again, and they differ then from those that
somebody else has kept. docs/evidence.md describes the form, and docs/verify_report.py computes it.
"""

import json
from datetime import UTC
from hashlib import sha256
from typing import Any

from frepo_core.db.models import Event

COLUMNS = (
    *(Event.id, Event.at, Event.kind, Event.actor, Event.actor_name, Event.address),
    *(Event.collection_id, Event.version_number, Event.file_id, Event.token, Event.data),
)
_NAMES = tuple(column.key for column in COLUMNS if column.key not in {"id", "at"})


def canonical_form(row: Any, position: int) -> dict[str, Any]:
    """Return what a link is about: an event as JSON values, with its position. `row` has `COLUMNS`."""
    at = row.at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    return {name: getattr(row, name) for name in _NAMES} | {"position": position, "at": at}


def digest_of(form: dict[str, Any]) -> str:
    """Return the SHA-256 of a canonical form as JSON with sorted names, without spaces, in ASCII."""
    return sha256(json.dumps(form, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def next_link(before: str, digest: str) -> str:
    """Return the link of an event after another one; `before` is empty where the chain begins."""
    return sha256((before + digest).encode()).hexdigest()
