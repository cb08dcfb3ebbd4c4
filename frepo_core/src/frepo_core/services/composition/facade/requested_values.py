"""Checks the values of collections and tokens that plug-ins request, as the endpoints check those of clients."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from frepo_core.domain.backups.guard_values import CHECKS, field_of, length, whole
from frepo_core.domain.backups.locks import LONGEST
from frepo_core.domain.limits import COUNT, ONE, TOTAL
from frepo_core.domain.mime_types import check_type
from frepo_core.domain.naming import check_file_name, check_tag, check_token_name
from frepo_core.domain.network.addresses import normalize_network
from frepo_core.domain.roles import Role
from frepo_core.domain.texts.labels import check_labels
from frepo_core.errors import FieldsError
from frepo_core.plugins import CollectionValues, Guards, TokenValues

from ...access.tokens import NewToken
from ...backups.rows.collection_change import CollectionChange

MAX_TEXT, MAX_DESCRIPTION, MAX_NAME, MAX_PATTERN, MAX_ENTRIES = 255, 1024, 64, 512, 100
_ROLES = {role.value: role for role in Role}
_T = TypeVar("_T")


class _Checks:
    """Applies checks to values; `problems` are what they have found, by the names of the fields."""

    def __init__(self) -> None:
        self.problems: dict[str, list[str]] = {}

    def of(self, name: str, value: Any, check: Callable[[Any], _T]) -> _T | None:
        """Return what the check makes of a value, None for none."""
        if value is None:
            return None
        try:
            return check(value)
        except (TypeError, ValueError) as error:
            self.problems[name] = [str(error)]
            return None

    def each(self, name: str, values: Sequence[Any], check: Callable[[Any], _T]) -> list[_T]:
        """Return what the check makes of each value of a list."""
        return self.of(name, values, partial(_list, check)) or []

    def end(self) -> None:
        """Raise `FieldsError` if something was wrong."""
        if self.problems:
            raise FieldsError(self.problems)


def collection_change(values: CollectionValues, *, is_new: bool) -> CollectionChange:
    """Return what the service has to change. Raises `FieldsError`."""
    checks = _Checks()
    if is_new and values.name is None:
        checks.problems["name"] = ["A new collection needs a name"]
    sizes = {COUNT: values.max_versions, ONE: values.max_version_size, TOTAL: values.max_size}
    limits = {name: checks.of(f"limits.{name}", value, whole) for name, value in sizes.items()}
    change = CollectionChange(
        limits={name: value for name, value in limits.items() if value is not None},
        guards=_guards(checks, values.guards),
        strategy=checks.of("strategy", values.strategy, partial(_text, MAX_NAME)),
        strategy_options=checks.of("strategy_options", values.strategy_options, _mapping),
        description=checks.of("description", values.description, partial(_text, MAX_DESCRIPTION)),
        filename=checks.of("name", values.name, check_file_name),
        expected_every=checks.of("expected_every", values.expected_every, partial(_text, MAX_TEXT)),
        grace=checks.of("grace", values.grace, partial(_text, MAX_TEXT)),
        labels=checks.of("labels", values.labels, _labels),
        storage=checks.of("storage", values.storage, partial(_text, MAX_NAME)),
        mirror=checks.of("mirror", values.mirror, partial(_text, MAX_NAME)),
        compact_group=checks.of("compact_group", values.compact_group, partial(_text, MAX_NAME)),
        trash_keep=checks.of("trash_keep", values.trash_keep, partial(_text, MAX_TEXT)),
        locked=checks.of("locked", values.locked, _lock),
    )
    checks.end()
    return change


def new_token(values: TokenValues) -> NewToken:
    """Return the token that the service has to make. Raises `FieldsError`."""
    checks = _Checks()
    is_endless = values.expires_at == "never"
    token = NewToken(
        roles=checks.each("roles", values.roles, _role),
        name=checks.of("name", values.name, check_token_name),
        expires="never" if is_endless else None,
        expires_at=None if is_endless else checks.of("expires_at", values.expires_at, _moment),
        tags=checks.each("restrictions.tags", values.tags, check_tag),
        mimes=checks.each("restrictions.mime_types", values.mime_types, check_type),
        max_file_size=checks.of("restrictions.max_file_size", values.max_file_size, whole) or 0,
        user_agents=checks.each("restrictions.user_agents", values.user_agents, _pattern),
        ip_addresses=checks.each("restrictions.ip_addresses", values.ip_addresses, normalize_network),
    )
    if not token.roles and "roles" not in checks.problems:
        checks.problems["roles"] = ["A token needs a role"]
    checks.end()
    return token


def _guards(checks: _Checks, guards: Guards | Mapping[str, Any]) -> dict[str, Any]:
    """Return the guards under the names of the fields of their domain."""
    found = {}
    for name, value in (guards.chosen() if isinstance(guards, Guards) else guards).items():
        if name not in CHECKS:
            checks.problems[f"guards.{name}"] = [f"There is no such guard. Known: {', '.join(CHECKS)}"]
        elif (checked := checks.of(f"guards.{name}", value, CHECKS[name])) is not None:
            found[field_of(name)] = checked
    return found


def _list(check: Callable[[Any], _T], values: Any) -> list[_T]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError("A list is expected")
    found = [check(value) for value in values]
    if len(found) > MAX_ENTRIES:
        raise ValueError(f"At most {MAX_ENTRIES} values are allowed")
    return found


def _text(most: int, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("A text is expected")
    if len(value) > most:
        raise ValueError(f"At most {most} characters are allowed")
    return value


def _pattern(value: Any) -> str:
    if not _text(MAX_PATTERN, value):
        raise ValueError("It is empty; leave it out for no restriction")
    return str(value)


def _labels(values: Any) -> list[str]:
    return check_labels(_list(partial(_text, MAX_TEXT), values))


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError("Names with values are expected")
    return dict(value)


def _lock(value: Any) -> timedelta:
    if length(value, LONGEST) < timedelta(seconds=1):
        raise ValueError(f"A lock is at least a second and at most {LONGEST.days} days")
    return timedelta(seconds=int(value.total_seconds()))


def _moment(value: Any) -> datetime:
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise ValueError("A datetime with a zone, or never, is expected")
    return value


def _role(value: Any) -> Role:
    if value not in _ROLES:
        raise ValueError(f"{value!r:.100} is not a role, see docs/roles.md")
    return _ROLES[value]
