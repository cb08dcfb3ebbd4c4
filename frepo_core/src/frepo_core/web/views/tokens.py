"""The endpoints of tokens."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from frepo_core.domain.permissions import allows
from frepo_core.domain.roles import Role
from frepo_core.domain.token_expiry import format_expiry
from frepo_core.errors import AccessDeniedError
from frepo_core.services.access.tokens import NewToken

from ..base.endpoint import Answer, Endpoint
from ..base.request import FrepoRequest
from ..schemas import json_schemas
from ..schemas.models import Form, Reply, Size, Tag
from ..schemas.token_fields import KnownRole, Network

ChosenId = Annotated[str | None, Field(max_length=64), WithJsonSchema(json_schemas.CHOSEN_ID, mode="validation")]
Expires = Annotated[str | None, Field(max_length=64), WithJsonSchema(json_schemas.EXPIRES, mode="validation")]
Expiry = Annotated[str, Field(pattern=json_schemas.EXPIRY)]


def _empty_object(value: Any) -> Any:
    """Accept an empty list for an empty object: PHP writes both as `[]`."""
    return {} if value == [] else value


class TokenData(Form):
    """The restrictions of a token. Empty lists and 0 restrict nothing."""

    tags: list[Tag] = Field([], max_length=100)
    allowedMimeTypes: list[Annotated[str, Field(max_length=128)]] = Field([], max_length=100)
    maxAllowedFileSize: Size = 0
    allowedUserAgents: list[Annotated[str, Field(max_length=512)]] = Field([], max_length=100)
    allowedIpAddresses: list[Network] = Field([], max_length=100)


class GenerateToken(Form):
    """A new token."""

    roles: list[KnownRole] = Field(min_length=1, max_length=100)
    data: Annotated[TokenData, BeforeValidator(_empty_object)] = TokenData()
    expires: Expires = None
    id: ChosenId = None


class IssuedTokenReply(Reply):
    """The new token. Logs name it by its fingerprint."""

    tokenId: str
    fingerprint: str = Field(pattern=json_schemas.FINGERPRINT)
    expires: Expiry | None


class RevokedTokenReply(Reply):
    """The answer to a revocation. `alsoRevoked` are the fingerprints of the other tokens of its chain."""

    status: str
    tokenId: str
    expires: Expiry | None
    alsoRevoked: list[str]


class TokenReply(Reply):
    """The permissions of a token. Logs name it by its fingerprint."""

    tokenId: str
    fingerprint: str = Field(pattern=json_schemas.FINGERPRINT)
    expires: Expiry | None
    roles: list[str]
    tags: list[str]
    mimes: list[str]
    max_file_size: int
    ip_addresses: list[str]
    user_agents: list[str]


def generate(request: FrepoRequest) -> Answer:
    """Generate a token."""
    form = request.body_as(GenerateToken)
    if form.id is not None and not allows("token.choose_id", request.sender):
        raise AccessDeniedError("The token may not choose ids: security.create_predictable_token_ids is needed")
    issued = request.services.tokens.generate(
        NewToken(
            roles=form.roles,
            tags=form.data.tags,
            mimes=form.data.allowedMimeTypes,
            max_file_size=form.data.maxAllowedFileSize,
            user_agents=form.data.allowedUserAgents,
            ip_addresses=form.data.allowedIpAddresses,
            expires=form.expires,
            id=form.id,
        ),
        by=request.sender,
    )
    expires = format_expiry(issued.expires_at)
    return Answer(status=202, body=IssuedTokenReply(tokenId=issued.id, fingerprint=issued.fingerprint, expires=expires))


def look_up(request: FrepoRequest) -> Answer:
    """Show the permissions of a token."""
    token_id = request.matchdict["token"]
    found = request.services.tokens.look_up(token_id)
    return Answer(
        body=TokenReply(
            tokenId=token_id.lower(),
            fingerprint=found.fingerprint,
            expires=format_expiry(found.expires_at),
            roles=sorted(found.roles),
            tags=list(found.tags),
            mimes=list(found.mimes),
            max_file_size=found.max_file_size,
            ip_addresses=list(found.ip_addresses),
            user_agents=list(found.user_agents),
        )
    )


def revoke(request: FrepoRequest) -> Answer:
    """Revoke a token. It is invalid at once."""
    token_id = request.matchdict["token"]
    revoked, others = request.services.tokens.revoke(token_id, by=request.sender)
    expires = format_expiry(revoked.expires_at)
    return Answer(body=RevokedTokenReply(status="OK", tokenId=token_id.lower(), expires=expires, alsoRevoked=others))


class RolesReply(Reply):
    """All roles, with their descriptions."""

    roles: dict[str, str]


def list_roles(request: FrepoRequest) -> Answer:
    """List all roles."""
    return Answer(body=RolesReply(roles={role.value: role.description for role in Role}))


class ClearedToken(Reply):
    """The fingerprint of a deleted token, and its time of expiry."""

    id: str
    date: Expiry | None


class ClearedReply(Reply):
    """The deleted tokens."""

    message: str
    log: list[ClearedToken]


def clear_expired(request: FrepoRequest) -> Answer:
    """Delete all expired tokens."""
    cleared = request.services.tokens.clear_expired(by=request.sender)
    log = [ClearedToken(id=fingerprint, date=format_expiry(end)) for fingerprint, end in cleared]
    return Answer(body=ClearedReply(message=f"{len(log)} expired tokens were removed", log=log))


ENDPOINTS = [
    Endpoint(
        name="generate_token",
        method="POST",
        path="/auth/token/generate",
        view=generate,
        summary="Generate a token",
        permission="token.generate",
        body=GenerateToken,
        writes=True,
        answers={202: IssuedTokenReply},
    ),
    Endpoint(
        name="look_up_token",
        method="GET",
        path="/auth/token/{token}",
        view=look_up,
        summary="Look a token up",
        permission="token.lookup",
        answers={200: TokenReply},
    ),
    Endpoint(
        name="revoke_token",
        method="DELETE",
        path="/auth/token/{token}",
        view=revoke,
        summary="Revoke a token",
        permission="token.revoke",
        writes=True,
        answers={200: RevokedTokenReply},
    ),
    Endpoint(
        name="list_roles",
        method="GET",
        path="/auth/roles",
        view=list_roles,
        summary="List all roles",
        permission="technical",
        answers={200: RolesReply},
    ),
    Endpoint(
        name="clear_expired_tokens",
        method="GET",
        path="/jobs/token/expired/clear",
        view=clear_expired,
        summary="Remove expired tokens",
        permission="technical",
        writes=True,
        answers={200: ClearedReply},
    ),
]
