"""Rules about who may set which values of a collection, and about chosen ids."""

from collections.abc import Callable

from frepo_core.domain.identity import Identity, new_uuid4, parse_uuid4
from frepo_core.domain.limits import infinite_fields
from frepo_core.domain.permissions import allows
from frepo_core.domain.roles import Role
from frepo_core.errors import (
    AccessDeniedError,
    FieldsError,
    FrepoError,
    InvalidCollectionIdError,
    RuleError,
    raise_all,
)

from ..rows.collection_change import CollectionChange


def check_roles(change: CollectionChange, by: Identity | None) -> None:
    """Raise `AccessDeniedError` if the token lacks a role that the values need. None is `frepo`, with all roles."""
    if by is None:
        return
    if infinite_fields(change.limits) and not allows("collection.disable_limits", by):
        raise AccessDeniedError("The token may not switch limits off: collections.allow_infinite_limits is needed")
    if change.locked and not allows("collection.lock", by, listed=True):
        raise AccessDeniedError(
            "The token may not lock versions: collections.lock_versions_in_allowed_collections is needed"
        )
    if change.trash_keep and not allows("trash.end", by, listed=True):
        raise AccessDeniedError(
            f"The token may not let versions leave the trash earlier: {Role.RESTORE_FROM_TRASH.value} and "
            f"{Role.DELETE_VERSIONS.value} are needed"
        )
    if change.id is not None and not allows("collection.choose_id", by):
        raise AccessDeniedError("The token may not choose ids: collections.create_new.with_custom_id is needed")


def apply_all(*rules: Callable[[], object]) -> None:
    """Call all rules. Raises the first error, with those of the other rules in its `others`."""
    problems: list[FrepoError] = []
    for rule in rules:
        try:
            rule()
        except (FieldsError, RuleError) as error:
            problems.append(error)
    raise_all(problems)


def new_id(chosen: str | None) -> str:
    """Return the chosen id in canonical form, or a random one. Raises `InvalidCollectionIdError`."""
    if chosen is None:
        return new_uuid4()
    canonical = parse_uuid4(chosen.lower())
    if canonical is None:
        raise InvalidCollectionIdError()
    return canonical
