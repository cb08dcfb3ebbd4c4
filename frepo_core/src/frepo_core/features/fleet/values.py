"""The values of collections and tokens, in the form in which a fleet file has them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from frepo_core.db.models import Token
from frepo_core.services.base.records import CollectionRecord

from ..restore_tests.choices import Choice

# Inner objects of which the file may have a part.
_INNER = ("limits", "guards", "restrictions")


@dataclass(frozen=True, kw_only=True)
class Difference:
    """What is not as the file says: a line of the table. `kind` is `collection` or `token`."""

    kind: str
    key: str
    what: str
    before: Any
    after: Any


def collection_values(record: CollectionRecord) -> dict[str, Any]:
    """Return the settings of a collection, as `CollectionPatch` has them."""
    guards = dict(vars(record.guards))
    guards["on_suspicious"] = guards.pop("action")
    return {
        "name": record.filename,
        "description": record.description,
        "labels": list(record.labels),
        "strategy": record.strategy,
        "strategy_options": record.strategy_options and dict(record.strategy_options),
        "limits": dict(vars(record.limits)),
        "guards": guards,
        "locked": record.locked or None,
        "expected_every": record.expected_every,
        "grace": record.grace,
        "storage": record.storage,
        "mirror": record.mirror,
        "compact_group": record.compact_group,
        "trash_keep": record.trash_keep,
    }


def choice_values(choice: Choice) -> dict[str, Any]:
    """Return how a collection is restore-tested, as the file has it: without what is not asserted."""
    filled = {
        name: {field: value for field, value in vars(one).items() if value is not None}
        for name, one in choice.assertions.items()
    }
    return {"engine": choice.engine, "assertions": filled}


def token_values(row: Token) -> dict[str, Any]:
    """Return the values of a token, as `FleetToken` has them. Its end is to the second, as the file's."""
    return {
        "name": row.name or None,
        "roles": sorted(row.roles),
        "expires_at": row.expires_at and row.expires_at.replace(microsecond=0),
        "restrictions": {
            "tags": list(row.tags),
            "mime_types": list(row.mimes),
            "max_file_size": row.max_file_size,
            "user_agents": list(row.user_agents),
            "ip_addresses": list(row.ip_addresses),
        },
    }


def changed(wanted: Mapping[str, Any], current: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the wanted values that are different now; of an inner object, those of its values."""
    found: dict[str, Any] = {}
    for name, value in wanted.items():
        if name in _INNER and value is not None:
            inner = {one: each for one, each in value.items() if each != current[name][one]}
            found |= {name: inner} if inner else {}
        elif value != current[name]:
            found[name] = value
    return found


def differences(kind: str, key: str, values: Mapping[str, Any], current: Mapping[str, Any]) -> Iterator[Difference]:
    """Yield a line for each of the values that `changed` has found."""
    for name, value in values.items():
        if name in _INNER:
            for one, each in value.items():
                yield Difference(kind=kind, key=key, what=f"{name}.{one}", before=current[name][one], after=each)
        else:
            yield Difference(kind=kind, key=key, what=name, before=current[name], after=value)


def written(value: Any, duration: Callable[[timedelta], str]) -> Any:
    """Return a value as the file has it: texts, numbers, lists and mappings."""
    if isinstance(value, timedelta):
        return duration(value)
    if isinstance(value, Mapping):
        return {name: written(each, duration) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [written(each, duration) for each in value]
    return value.isoformat().replace("+00:00", "Z") if hasattr(value, "isoformat") else value
