"""Writes the fleet file from what is there."""

import re
from collections.abc import Mapping
from typing import Any

from frepo_core.db.models import Token
from frepo_core.domain.durations import format_iso_duration

from ..restore_tests.choices import Choice
from .current import CurrentFleet, OpenCode, client_of
from .values import choice_values, collection_values, token_values, written

# What needs no line: a new collection has it, too.
_EMPTY: tuple[Any, ...] = (None, "", [], {})


def export(current: CurrentFleet, admin_key: str | None) -> dict[str, Any]:
    """Return the file: all collections and all valid tokens but that of `security.admin_token`.

    What has no key yet gets one from its name, and is named by its id or its fingerprint.
    """
    newest = {client_of(one): one for one in current.tokens if one.key != admin_key}
    keys = _token_keys(newest)
    tokens = {keys[client]: _token(row) for client, row in newest.items()}
    tokens |= {key: _code(code) for key, code in current.codes.items() if code.collections and key not in tokens}
    collections: dict[str, Any] = {}
    taken: set[str | None] = {one.fleet_key for one in current.collections.values()}
    for record in sorted(current.collections.values(), key=lambda one: (one.filename, one.id)):
        key = record.fleet_key or _free(record.filename, record.id, taken)
        taken.add(key)
        values = written(collection_values(record), format_iso_duration)
        listed = sorted(
            {
                *(keys[client] for client in current.clients_of(record.id) if client in keys),
                *(key for key, code in current.codes.items() if record.id in code.collections),
            }
        )
        choice = written(choice_values(current.choices.get(record.id, Choice())), format_iso_duration)
        tests = {"restore_tests": choice} if any(choice.values()) else {}
        hold = {"hold": {"reason": record.hold.reason}} if record.hold else {}
        collections[key] = {"id": record.id, **_filled(values), "tokens": listed, **tests, **hold}
    return {"frepo_fleet": 1, "tokens": tokens, "collections": collections}


def _token_keys(newest: Mapping[str, Token]) -> dict[str, str]:
    taken: set[str | None] = {row.fleet_key for row in newest.values()}
    keys: dict[str, str] = {}
    for client, row in newest.items():
        keys[client] = row.fleet_key or _free(row.name or "token", row.fingerprint, taken)
        taken.add(keys[client])
    return keys


def _token(row: Token) -> dict[str, Any]:
    values = written(token_values(row), format_iso_duration)
    values["restrictions"] = {name: value for name, value in values["restrictions"].items() if value}
    named = {} if row.fleet_key else {"fingerprint": row.fingerprint}
    return {**named, **_filled(values)}


def _code(code: OpenCode) -> dict[str, Any]:
    return _filled(
        written({"name": code.name, "enrol": True, "expires_at": code.token_expires_at}, format_iso_duration)
    )


def _filled(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in _EMPTY}


def _free(name: str, unique: str, taken: set[str | None]) -> str:
    """Return a key made of a name; with the beginning of its id if another thing has this key."""
    key = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:100] or "thing"
    return key if key not in taken else f"{key}-{unique[:12]}"
