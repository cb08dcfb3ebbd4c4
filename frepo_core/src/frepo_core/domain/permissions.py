"""Decides what a token may do: one table of rules for all actions. No other module checks roles."""

from collections.abc import Iterable, Mapping

from .identity import Identity
from .mime_types import ROLE_TYPES, is_allowed_by_token
from .roles import UPLOADS, Role
from .structs import struct

_ADMINISTRATIVE = frozenset(
    {
        Role.ADMINISTRATOR,
        Role.GENERATE_TOKENS,
        Role.REVOKE_TOKENS,
        Role.CHOOSE_TOKEN_IDS,
        Role.DELETE_ALL_FILES,
        Role.MODIFY_ANY_COLLECTION,
    }
)


@struct
class Rule:
    """The roles that an action requires. An administrator holds all of them.

    The token must hold one of `any_of`; if that is empty, every valid token is enough. It must hold all of `all_of`.
    With `listed`, the token must also be on the collection's list, or hold `MODIFY_ANY_COLLECTION`. One of `or_any_of`
    is enough on its own.
    """

    any_of: frozenset[Role] = frozenset()
    all_of: frozenset[Role] = frozenset()
    listed: bool = False
    or_any_of: frozenset[Role] = frozenset()

    def allows(self, identity: Identity, *, listed: bool = False) -> bool:
        """Return whether a token may act; `listed` is whether the collection lists it."""
        if identity.holds_any(self.or_any_of):
            return True
        if self.any_of and not identity.holds_any(self.any_of):
            return False
        if not all(identity.holds(role) for role in self.all_of):
            return False
        return not self.listed or listed or identity.holds(Role.MODIFY_ANY_COLLECTION)


def _holding(*roles: Role) -> Rule:
    return Rule(any_of=frozenset(roles))


def _in_collection(role: Role) -> Rule:
    return Rule(any_of=frozenset({role}), listed=True)


_MODIFY_ANY = frozenset({Role.MODIFY_ANY_COLLECTION})

RULES: Mapping[str, Rule] = {
    "token": Rule(),
    "token.generate": _holding(Role.GENERATE_TOKENS),
    "token.list": _holding(Role.LIST_TOKENS),
    "token.change": Rule(all_of=frozenset({Role.GENERATE_TOKENS, Role.REVOKE_TOKENS})),
    "token.lookup": _holding(Role.LOOKUP_TOKENS),
    "token.choose_id": _holding(Role.CHOOSE_TOKEN_IDS),
    "token.revoke": _holding(Role.REVOKE_TOKENS),
    "token.revoke_administrator": _holding(Role.ADMINISTRATOR),
    "technical": _holding(Role.USE_TECHNICAL),
    "file.upload": Rule(any_of=UPLOADS),
    "file.overwrite": _holding(Role.OVERWRITE),
    "file.read_any": _holding(Role.VIEW_ANY_FILE),
    "file.delete_any": _holding(Role.DELETE_ALL_FILES),
    "file.list": _holding(Role.VIEW_LISTING),
    "file.list_all_tags": _holding(Role.VIEW_ALL_TAGS),
    "file.list_private": _holding(Role.ADMINISTRATOR),
    "events.view": _holding(Role.VIEW_EVENTS),
    "aliases.manage": _holding(Role.MANAGE_ALIASES),
    "jobs.view": _holding(Role.VIEW_JOBS),
    "jobs.run": _holding(Role.RUN_JOBS),
    "settings.view": _holding(Role.VIEW_SETTINGS),
    "metrics.view": _holding(Role.VIEW_METRICS),
    # A report shows all that each of these roles shows, and nothing in it is masked, because it is signed.
    "report.view": Rule(
        all_of=frozenset({Role.VIEW_METRICS, Role.VIEW_EVENTS, Role.VIEW_ALL_COLLECTIONS, Role.LIST_TOKENS})
    ),
    "collection.create": _holding(Role.CREATE_COLLECTIONS),
    "collection.choose_id": _holding(Role.CHOOSE_COLLECTION_IDS),
    "collection.disable_limits": _holding(Role.INFINITE_LIMITS),
    "collection.list": _holding(Role.LIST_COLLECTIONS),
    "collection.list_deleted": _holding(Role.RESTORE_FROM_TRASH),
    "collection.fetch": Rule(listed=True, or_any_of=frozenset({Role.VIEW_ALL_COLLECTIONS})),
    "collection.edit": Rule(any_of=frozenset({Role.MODIFY_COLLECTIONS}), listed=True, or_any_of=_MODIFY_ANY),
    "collection.delete": Rule(any_of=frozenset({Role.DELETE_COLLECTIONS}), listed=True, or_any_of=_MODIFY_ANY),
    "collection.lock": _in_collection(Role.LOCK_VERSIONS),
    "collection.hold": _in_collection(Role.HOLD_COLLECTIONS),
    "collection.end_hold": _in_collection(Role.END_HOLDS),
    "collection.tokens": _in_collection(Role.MANAGE_COLLECTION_TOKENS),
    "version.upload": _in_collection(Role.UPLOAD_VERSIONS),
    "version.list": _in_collection(Role.LIST_VERSIONS),
    "pin.list": _holding(Role.LIST_VERSIONS),
    "hold.list": _holding(Role.LIST_VERSIONS),
    "version.edit": _in_collection(Role.PIN_VERSIONS),
    "version.delete": _in_collection(Role.DELETE_VERSIONS),
    "trash.list": _in_collection(Role.RESTORE_FROM_TRASH),
    "trash.restore": _in_collection(Role.RESTORE_FROM_TRASH),
    # Its content is that of a version: whoever may not read versions may not read removed ones either.
    "trash.read": Rule(all_of=frozenset({Role.RESTORE_FROM_TRASH, Role.LIST_VERSIONS}), listed=True),
    # Whoever may only delete, or only restore, cannot make a backup disappear for good.
    "trash.end": Rule(all_of=frozenset({Role.RESTORE_FROM_TRASH, Role.DELETE_VERSIONS}), listed=True),
    "collection.restore": _holding(Role.RESTORE_FROM_TRASH),
}

# The actions that change nothing. In read-only mode all others are refused, in part at least.
READING = frozenset(
    {"token", "token.list", "token.lookup", "file.read_any", "file.list", "file.list_all_tags", "file.list_private"}
    | {"events.view", "jobs.view", "settings.view", "metrics.view", "report.view"}
    | {
        "collection.list",
        "collection.list_deleted",
        "collection.fetch",
        "version.list",
        "pin.list",
        "hold.list",
        "trash.list",
        "trash.read",
    }
)


def allows(action: str, identity: Identity, *, listed: bool = False) -> bool:
    """Return whether the token may do what a name in `RULES` stands for. Raises `KeyError` for another name."""
    return RULES[action].allows(identity, listed=listed)


def permitted_actions(identity: Identity, *, is_read_only: bool) -> list[str]:
    """Return the names of all that the token may do, in the collections that list it or elsewhere."""
    return _permitted(RULES, identity, listed=True, is_read_only=is_read_only)


def permitted_in_collection(identity: Identity, *, listed: bool, is_read_only: bool) -> list[str]:
    """Return the names of all that the token may do in a collection; `listed` is whether the collection lists it."""
    rules = {action: rule for action, rule in RULES.items() if rule.listed}
    return _permitted(rules, identity, listed=listed, is_read_only=is_read_only)


def _permitted(rules: Mapping[str, Rule], identity: Identity, *, listed: bool, is_read_only: bool) -> list[str]:
    return sorted(
        action
        for action, rule in rules.items()
        if rule.allows(identity, listed=listed) and (action in READING or not is_read_only)
    )


def may_upload(identity: Identity, mime: str) -> bool:
    """Return whether the token's roles and its own list of types allow a file of this type."""
    by_role = identity.holds(Role.UPLOAD_ALL) or any(
        identity.holds(role) and mime in types for role, types in ROLE_TYPES.items()
    )
    return by_role and is_allowed_by_token(identity, mime)


def is_administrator(identity: Identity) -> bool:
    """Return whether the token is an administrator's, which only an administrator may revoke."""
    return identity.holds(Role.ADMINISTRATOR)


def administrative_roles(names: Iterable[str]) -> list[str]:
    """Return those of the roles with which a token acts for others, or undoes what they have: a person looks at it."""
    return sorted(_ADMINISTRATIVE & {*names})


def is_uploader(identity: Identity) -> bool:
    """Return whether the token is for uploads of versions, as that of a cron job. An administrator's is not."""
    return Role.UPLOAD_VERSIONS in identity.roles and not is_administrator(identity)


def forbids_password(identity: Identity) -> bool:
    """Return whether files that are uploaded with the token cannot have a password."""
    return identity.holds(Role.UPLOAD_NO_PASSWORD)


def enforces_tags(identity: Identity) -> bool:
    """Return whether files that are uploaded with the token get exactly the token's tags."""
    return identity.holds(Role.UPLOAD_TOKEN_TAGS)
