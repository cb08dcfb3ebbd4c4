"""The identity of a valid token during one request."""

import hashlib
import re
import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from .roles import GRANTS, Role
from .structs import struct

_UUID4 = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


@struct
class Identity:
    """A valid token. `token` is the HMAC under which it is stored, never the id itself.

    `address` is the client's address, `user_agent` what its program calls itself, `name` what people call the token.
    `first_token` is set if it replaced others.
    Empty tuples, and a `max_file_size` of 0 (bytes), restrict nothing.
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
    name: str = ""
    first_token: str | None = None
    user_agent: str = ""

    @property
    def client(self) -> str:
        """The first token of the chain of rotations: it is the same for a token and for those that replaced it."""
        return self.first_token or self.token

    @property
    def ends_with_upload(self) -> bool:
        """Whether the token is deleted after its first successful upload."""
        return self.holds(Role.UPLOAD_ONCE)

    def data(self) -> dict[str, Any]:
        """Return the identity as JSON, from which `of_data` makes it again. It contains no id of a token."""
        values = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}
        expires_at = self.expires_at.isoformat() if self.expires_at else None
        return {**values, "roles": sorted(role.value for role in self.roles), "expires_at": expires_at}

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> "Identity":
        """Make the identity of what `data` returned. Unknown roles are left out."""
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in data.items()
        }
        known = {role.value: role for role in Role}
        roles = frozenset(known[name] for name in data["roles"] if name in known)
        expires_at = datetime.fromisoformat(data["expires_at"]) if data["expires_at"] else None
        return cls(**{**values, "roles": roles, "expires_at": expires_at})

    def holds(self, role: Role) -> bool:
        """Return whether the token has the role. An administrator has all roles that grant something."""
        return role in self.roles or (role in GRANTS and Role.ADMINISTRATOR in self.roles)

    def holds_any(self, roles: Iterable[Role]) -> bool:
        """Return whether the token has at least one of the roles."""
        return any(self.holds(role) for role in roles)


@struct
class Actor:
    """Who acts without a token. `name` is `system:<job>`, `console:<user>`, or `anonymous` for a client without one."""

    name: str
    address: str = ""


# Who acts. None is the user of `frepo`.
By: TypeAlias = Identity | Actor | None


def describe_actor(by: By) -> str:
    """Return how logs name the actor: a token or a client with its address, a job, or `frepo`."""
    if by is None or (isinstance(by, Identity) and not by.token):
        return "frepo"
    if isinstance(by, Identity):
        return f"token {by.fingerprint} from {by.address or 'unknown'}"
    return f"{by.name} from {by.address}" if by.address else by.name


def parse_uuid4(text: object) -> str | None:
    """Return the id in canonical form (lower case, with dashes), or None if it is not a UUIDv4 (RFC 9562, 5.4)."""
    canonical = text.lower() if isinstance(text, str) else ""
    return canonical if _UUID4.fullmatch(canonical) else None


def new_uuid4() -> str:
    """Return a new random id (RFC 9562, 5.4)."""
    return str(uuid.uuid4())


def derived_uuid4(*parts: str) -> str:
    """Return the same id for the same parts, in the form of a UUIDv4. It is not secret."""
    digest = hashlib.sha256("\0".join(parts).encode()).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))
