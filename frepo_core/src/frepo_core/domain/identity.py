"""The identity of a valid token during one request."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from .roles import GRANTS, Role


@dataclass(frozen=True, kw_only=True)
class Identity:
    """A valid token. `token` is the HMAC under which it is stored, never the id itself.

    `address` is the client's address. Empty tuples, and a `max_file_size` of 0 (bytes), restrict nothing.
    """

    token: str
    fingerprint: str
    roles: frozenset[Role]
    tags: tuple[str, ...] = ()
    mimes: tuple[str, ...] = ()
    max_file_size: int = 0
    user_agents: tuple[str, ...] = ()
    ip_addresses: tuple[str, ...] = ()
    expires_at: datetime | None = None
    address: str = ""

    def holds(self, role: Role) -> bool:
        """Return whether the token has the role. An administrator has all roles that grant something."""
        return role in self.roles or (role in GRANTS and Role.ADMINISTRATOR in self.roles)

    def holds_any(self, roles: Iterable[Role]) -> bool:
        """Return whether the token has at least one of the roles."""
        return any(self.holds(role) for role in roles)


def describe_actor(by: Identity | None) -> str:
    """Return how logs name the actor: a token and its client's address, or the console."""
    return f"token {by.fingerprint} from {by.address or 'unknown'}" if by else "the console"


def parse_uuid4(text: str) -> str | None:
    """Return the id in canonical form (lower case, with dashes), or None if it is not a UUIDv4 (RFC 9562, 5.4)."""
    try:
        parsed = uuid.UUID(text)
    except (ValueError, AttributeError, TypeError):
        return None
    canonical = str(parsed)
    return canonical if parsed.version == 4 and canonical == text.lower() else None


def new_uuid4() -> str:
    """Return a new random id (RFC 9562, 5.4)."""
    return str(uuid.uuid4())
