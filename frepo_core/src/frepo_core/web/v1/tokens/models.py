"""The models of a token: its answer, its creation, its patch and its rotation."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import Field

from frepo_core.services.access.token_changes import Rotation
from frepo_core.services.access.token_records import TokenRecord
from frepo_core.services.access.tokens import NewToken

from ...conventions.entity_tags import entity_tag
from ...conventions.merge_patch import Patch, unset
from ...conventions.paging import PageReply
from ...conventions.types import Duration, End, Fingerprint, Time, Whole
from ...schemas import json_schemas
from ...schemas.models import Form, Reply, Tag
from ...schemas.token_fields import KnownRole, MimeType, Network, TokenName
from ..about import Restrictions

A_DAY = timedelta(days=1)
UserAgent = Annotated[str, Field(min_length=1, max_length=512)]
_COLUMNS = {"mime_types": "mimes"}


class TokenCollection(Reply):
    """A collection that lists the token. `name` is its file name."""

    id: str
    name: str


class Token(Reply):
    """A token, without its secret.

    `roles` are those of the token itself. `created_by` is the fingerprint of the token that made it, `console:<user>`,
    or null for old tokens; `created_by_name` is the name of that token, if it has one, still exists, and the caller may
    see it. `last_used_at` and `last_used_from` are up to a minute old. `collections` are 20 at most of the
    `collections_count` that list the token; both count only those that the caller may see. `setting` names the setting
    that holds the token, if one does. `chain` are the fingerprints of the tokens that have replaced each other at their
    own request, the oldest first; a change, a rotation and the end of one of them hold for those behind it, too.
    """

    fingerprint: Fingerprint
    name: str | None
    roles: list[str]
    restrictions: Restrictions
    expires_at: Time | None
    created_at: Time
    created_by: str | None
    created_by_name: str | None
    last_used_at: Time | None
    last_used_from: str | None
    collections: list[TokenCollection]
    collections_count: Whole
    setting: str | None
    chain: list[Fingerprint]

    @classmethod
    def of(cls, token: TokenRecord) -> "Token":
        """Convert a token."""
        return cls(**_values(token))


class IssuedToken(Token):
    """A new token. `secret` is what clients send; it is never shown again."""

    secret: str

    @classmethod
    def issued(cls, token: TokenRecord, secret: str) -> "IssuedToken":
        """Convert a new token."""
        return cls(**_values(token), secret=secret)


class RotatedToken(IssuedToken):
    """The new token. `replaces` is the fingerprint of the old one, which ends at `replaced_ends_at`.

    The tokens of `also_ended`, which the old one has made by replacing itself, end after the overlap, too.
    """

    replaces: Fingerprint
    replaced_ends_at: Time
    also_ended: list[Fingerprint]

    @classmethod
    def rotated(cls, done: Rotation) -> "RotatedToken":
        """Convert a rotation."""
        values = _values(done.new)
        return cls(
            **values,
            secret=done.id,
            replaces=done.old.fingerprint,
            replaced_ends_at=done.ends_at,
            also_ended=list(done.also_ended),
        )


class TokenPage(PageReply[Token]):
    """A page of tokens. `next` is the `cursor` of the next page, null on the last one."""


class RestrictionsPatch(Patch):
    """New restrictions. An empty list, and 0 bytes, restrict nothing. `*` in a User-Agent matches any text."""

    tags: list[Tag] = Field(default_factory=list, max_length=100)
    mime_types: list[MimeType] = Field(default_factory=list, max_length=100)
    max_file_size: Whole = unset()
    user_agents: list[UserAgent] = Field(default_factory=list, max_length=100)
    ip_addresses: list[Network] = Field(default_factory=list, max_length=100)


class TokenPatch(Patch):
    """What can be changed of a token. `name`: null removes it; `expires_at`: null is never. Roles cannot be changed."""

    name: TokenName | None = unset()
    expires_at: End | None = unset()
    restrictions: RestrictionsPatch = unset()

    def values(self) -> dict[str, Any]:
        """Return the values that the client has sent, under the names of the service."""
        sent = self.changes()
        return columns(sent.pop("restrictions", {})) | sent


class TokenDraft(TokenPatch):
    """A new token. Without `expires_at`, it has the lifetime of the service's settings; null is never."""

    roles: list[KnownRole] = Field(min_length=1, max_length=100)

    def new_token(self) -> NewToken:
        """Convert the token for the service."""
        sent = self.changes()
        end: datetime | None = sent.get("expires_at")
        is_endless = "expires_at" in sent and end is None
        return NewToken(
            roles=self.roles,
            name=sent.get("name"),
            expires="never" if is_endless else None,
            expires_at=end,
            **columns(sent.get("restrictions", {})),
        )


class TokenRotation(Form):
    """How long the old token stays valid, at most 366 days."""

    overlap: Duration = A_DAY


class SelfRotation(Form):
    """The secret of the successor, which the client has made: a random UUIDv4. Without it, the service makes one."""

    token: str | None = Field(None, pattern=json_schemas.UUID4, examples=[json_schemas.A_TOKEN])


def columns(restrictions: Mapping[str, Any]) -> dict[str, Any]:
    """Return restrictions under the names of the service."""
    return {_COLUMNS.get(name, name): value for name, value in restrictions.items()}


def token_tag(token: TokenRecord) -> str:
    """Return the ETag of a token."""
    return entity_tag(Token.of(token), TokenPatch)


def _values(token: TokenRecord) -> dict[str, Any]:
    return {
        "fingerprint": token.fingerprint,
        "name": token.name,
        "roles": list(token.roles),
        "restrictions": Restrictions.of(token),
        "expires_at": token.expires_at,
        "created_at": token.created_at,
        "created_by": token.created_by,
        "created_by_name": token.created_by_name,
        "last_used_at": token.last_used_at,
        "last_used_from": token.last_used_from,
        "collections": [TokenCollection(id=one.id, name=one.name) for one in token.collections],
        "collections_count": token.collections_count,
        "setting": token.setting,
        "chain": list(token.chain),
    }
