"""Tokens as the inventory shows them: never the id, which only the answer that makes a token contains."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row

from frepo_core.db.models import Token
from frepo_core.domain.identity import Identity, parse_uuid4
from frepo_core.domain.roles import Role
from frepo_core.domain.signatures import token_key
from frepo_core.domain.structs import struct
from frepo_core.settings import Settings

ADMIN_SETTING = "security.admin_token"
_ROLES: dict[str, Role] = {role.value: role for role in Role}


@struct
class ListedCollection:
    """A collection that lists a token. `name` is its file name."""

    id: str
    name: str


@struct
class TokenRecord:
    """A token. Times are UTC (aware), `max_file_size` is in bytes; empty tuples and 0 restrict nothing.

    `created_by` is None for tokens from before migration 0017, else as the actor of an event; `created_by_name` is the
    name of that token, if it exists, has one, and the caller may see it. `collections` are 20 at most of the
    `collections_count` collections that list the token and that the caller may see. `setting` names the setting that
    holds the token's id, if one does. `chain` are the fingerprints of the tokens that have replaced each other at their
    own request, the oldest first, this one among them; it is empty for a token that is alone.
    """

    fingerprint: str
    name: str | None
    roles: tuple[str, ...]
    tags: tuple[str, ...]
    mimes: tuple[str, ...]
    max_file_size: int
    user_agents: tuple[str, ...]
    ip_addresses: tuple[str, ...]
    expires_at: datetime | None
    created_at: datetime
    created_by: str | None
    created_by_name: str | None
    last_used_at: datetime | None
    last_used_from: str | None
    setting: str | None
    collections: Sequence[ListedCollection] = ()
    collections_count: int = 0
    chain: tuple[str, ...] = ()

    @property
    def successors(self) -> tuple[str, ...]:
        """The fingerprints of the tokens of its chain that came after this one."""
        return self.chain[self.chain.index(self.fingerprint) + 1 :] if self.chain else ()

    @classmethod
    def of(
        cls,
        row: Token,
        admin_key: str | None,
        collections: Sequence[ListedCollection] = (),
        count: int = 0,
        *,
        maker: str | None = None,
        chain: Sequence[str] = (),
    ) -> "TokenRecord":
        """Make a record of a row. `admin_key` is that of `admin_token_key`, `maker` the name of the token's creator."""
        return cls(
            fingerprint=row.fingerprint,
            name=row.name or None,
            roles=tuple(row.roles),
            tags=tuple(row.tags),
            mimes=tuple(row.mimes),
            max_file_size=row.max_file_size,
            user_agents=tuple(row.user_agents),
            ip_addresses=tuple(row.ip_addresses),
            expires_at=row.expires_at,
            created_at=row.created_at,
            created_by=row.created_by,
            created_by_name=maker,
            last_used_at=row.last_used_at,
            last_used_from=row.last_used_from,
            setting=ADMIN_SETTING if row.key == admin_key else None,
            collections=tuple(collections),
            collections_count=count,
            chain=tuple(chain),
        )


def admin_token_key(settings: Settings) -> str | None:
    """Return the key of the token whose id is in the setting `security.admin_token`, None if that is not set."""
    canonical = parse_uuid4(settings.security_admin_token.get_secret_value().lower())
    return token_key(settings.enc_token_phrase.get_secret_value(), canonical) if canonical else None


def identity_of(row: Token | Row[Any], address: str = "", user_agent: str = "") -> Identity:
    """Make an identity of a token's row for a client at this address. Unknown roles are ignored."""
    return Identity(
        token=row.key,
        fingerprint=row.fingerprint,
        roles=frozenset(_ROLES[name] for name in row.roles if name in _ROLES),
        tags=tuple(row.tags),
        mimes=tuple(row.mimes),
        max_file_size=row.max_file_size,
        user_agents=tuple(row.user_agents),
        ip_addresses=tuple(row.ip_addresses),
        expires_at=row.expires_at,
        address=address,
        name=row.name,
        first_token=row.first_key,
        user_agent=user_agent,
    )
