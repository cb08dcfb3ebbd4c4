"""Decides what a token may do: one table of rules for all actions."""

from collections.abc import Mapping
from dataclasses import dataclass

from .identity import Identity
from .roles import UPLOADS, Role


@dataclass(frozen=True, kw_only=True)
class Rule:
    """The roles that an action requires. An administrator holds all of them.

    The token must hold one of `any_of`; if that is empty, every valid token is enough. With `listed`, the token must
    also be on the collection's list, or hold `MODIFY_ANY_COLLECTION`. One of `or_any_of` is enough on its own.
    """

    any_of: frozenset[Role] = frozenset()
    listed: bool = False
    or_any_of: frozenset[Role] = frozenset()

    def allows(self, identity: Identity, *, listed: bool = False) -> bool:
        """Return whether a token may act; `listed` is whether the collection lists it."""
        if identity.holds_any(self.or_any_of):
            return True
        if self.any_of and not identity.holds_any(self.any_of):
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
    "token.lookup": _holding(Role.LOOKUP_TOKENS),
    "token.revoke": _holding(Role.REVOKE_TOKENS),
    "technical": _holding(Role.USE_TECHNICAL),
    "file.upload": Rule(any_of=UPLOADS),
    "file.list": _holding(Role.VIEW_LISTING),
    "collection.create": _holding(Role.CREATE_COLLECTIONS),
    "collection.list": _holding(Role.LIST_COLLECTIONS),
    "collection.fetch": Rule(listed=True, or_any_of=frozenset({Role.VIEW_ALL_COLLECTIONS})),
    "collection.edit": Rule(any_of=frozenset({Role.MODIFY_COLLECTIONS}), listed=True, or_any_of=_MODIFY_ANY),
    "collection.delete": Rule(any_of=frozenset({Role.DELETE_COLLECTIONS}), listed=True, or_any_of=_MODIFY_ANY),
    "collection.tokens": _in_collection(Role.MANAGE_COLLECTION_TOKENS),
    "version.upload": _in_collection(Role.UPLOAD_VERSIONS),
    "version.list": _in_collection(Role.LIST_VERSIONS),
    "version.delete": _in_collection(Role.DELETE_VERSIONS),
}
