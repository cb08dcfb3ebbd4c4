"""What the values of a recovered object must be, so that every list can show it."""

import re
from collections.abc import Collection as Words
from collections.abc import Mapping
from datetime import datetime
from typing import Any, get_args

from frepo_core.db.models import Collection
from frepo_core.domain.backups.guards import GuardAction
from frepo_core.domain.identity import parse_uuid4
from frepo_core.domain.network.addresses import normalize_network
from frepo_core.domain.signatures import FINGERPRINT_LENGTHS, fingerprint
from frepo_core.services.backups.rows.removal import TrashReason
from frepo_core.services.backups.trash.collection_removal import collection_from

from .journal.json_rows import Values, check_values, names_of, to_row
from .journal.objects import ObjectKind, table_of

# The words that a column has, and what stands for one that frepo does not know: the object itself is not lost for it.
_WORDS: Mapping[tuple[str, str], tuple[Words[str], str | None]] = {
    ("collection", "guard_action"): (get_args(GuardAction), "refuse"),
    ("collection", "restore_outcome"): (("good", "broken", "not checked"), None),
    ("trash", "reason"): ([reason.value for reason in TrashReason], TrashReason.DELETED.value),
}
_COLLECTION = table_of(Collection)
_DIGEST = re.compile("[0-9a-f]{64}")


def possible_values(kind: ObjectKind, values: Values) -> Values:
    """Return the values of an object, mended where it would be lost otherwise. Raises `ValueError` for impossible ones.

    No collection is lost for a number below 0, which becomes 0: its counters are counted again. A token is, for without
    its limit it could send what it likes.
    """
    values = {name: _known_word(kind, name, value) for name, value in values.items()}
    if kind.name == "collection":
        values = {name: max(0, value) if type(value) is int else value for name, value in values.items()}
        if not _are_problems(values.get("problems", {})):
            values |= {"problems": None, "problem_since": None}  # who found them finds them again
    check_values(kind.table, {name: value for name, value in values.items() if name not in kind.lists})
    for part, (table, _) in kind.joined.items():
        check_values(table, values[part])
    for part, listed in kind.lists.items():
        for row in values.get(part, ()):
            check_values(listed.source, row)
    _require_from_frepo(kind, values)
    return values


def _known_word(kind: ObjectKind, name: str, value: Any) -> Any:
    words, instead = _WORDS.get((kind.name, name), ((), value))
    return value if not isinstance(value, str) or value in words else instead


def _are_problems(value: Any) -> bool:
    """Return whether there are any, of the form of `problem_reports`."""
    try:
        found = [one for problems in value.values() for one in problems.values()]
        return bool(found and all(datetime.fromisoformat(one["since"]) and one["message"].strip() for one in found))
    except (AttributeError, LookupError, TypeError, ValueError):
        return False


def _require_from_frepo(kind: ObjectKind, values: Values) -> None:
    if kind.name == "deleted_collection":
        values = _restorable(values["settings"])
    if kind.name in {"collection", "deleted_collection"} and parse_uuid4(values["id"]) is None:
        raise ValueError(f"collection.id cannot be {values['id']!r:.50}")
    if "blob" in kind.joined and not _DIGEST.fullmatch(values["blob"]["digest"]):
        raise ValueError(f"content.digest cannot be {values['blob']['digest']!r:.50}")
    if kind.name == "token":
        if values["fingerprint"] not in [fingerprint(values["key"], length) for length in FINGERPRINT_LENGTHS]:
            raise ValueError("token.fingerprint is not that of its key")
        for network in values["ip_addresses"]:
            normalize_network(network)


def _restorable(settings: Values) -> Values:
    """Return the columns of a deleted collection, as they are when it is restored. Raises as `possible_values`."""
    row = collection_from(settings)
    values = to_row(_COLLECTION, {name: getattr(row, name) for name in names_of(_COLLECTION)})
    for (kind, name), (words, instead) in _WORDS.items():
        if kind == "collection" and values[name] not in {instead, *words}:
            raise ValueError(f"collection.{name} cannot be {values[name]!r:.50}")
    if values["problems"] is not None and not _are_problems(values["problems"]):
        raise ValueError(f"collection.problems cannot be {values['problems']!r:.50}")
    return values
