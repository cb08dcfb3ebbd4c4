"""The endpoints of tokens: the inventory, and changes by fingerprint."""

import re
from typing import Literal

from pydantic import Field
from pyramid.response import Response

from frepo_core.domain.roles import Role
from frepo_core.errors import FieldsError, NotFoundError
from frepo_core.services.access.token_inventory import TokenSearch
from frepo_core.services.access.token_records import TokenRecord

from ...base.endpoint import Answer, Endpoint
from ...base.request import V1, FrepoRequest
from ...conventions.answers import created, delete_endpoint, edit_endpoint, no_content, resource, show_endpoint
from ...conventions.entity_tags import IF_MATCH, if_match
from ...conventions.paging import PageQuery, next_cursor, page_request
from ...conventions.types import Moment
from ...schemas import json_schemas
from .models import (
    IssuedToken,
    RotatedToken,
    SelfRotation,
    Token,
    TokenDraft,
    TokenPage,
    TokenPatch,
    TokenRotation,
    token_tag,
)

TOKENS = f"{V1}/tokens"
TOKEN = f"{TOKENS}/{{fingerprint}}"
_ROLES = {role.value: role for role in Role}


class TokenQuery(PageQuery):
    """Which tokens. Times have a zone, or are a day in UTC."""

    q: str = Field("", max_length=255, description="Part of the name or of the fingerprint, in any case.")
    role: str = Field("", json_schema_extra={"enum": [*_ROLES]}, description="A role that the token itself has.")
    collection: str = Field("", max_length=64, description="The id of a collection that lists the token.")
    unused_since: Moment | None = Field(None, description="Only tokens that existed then and were not used since.")
    sort: Literal[
        "name", "-name", "created_at", "-created_at", "last_used_at", "-last_used_at", "expires_at", "-expires_at"
    ] = "name"


def list_tokens(request: FrepoRequest) -> Answer:
    """List the tokens that the caller may see."""
    query = request.query_as(TokenQuery)
    if query.role and query.role not in _ROLES:
        raise FieldsError({"role": ["There is no such role; docs/roles.md lists them"]})
    search = TokenSearch(
        text=query.q, role=_ROLES.get(query.role), collection=query.collection, unused_since=query.unused_since
    )
    page = request.services.token_inventory.page(search, page_request(query), by=request.sender)
    return Answer(body=TokenPage(items=[Token.of(one) for one in page.items], next=next_cursor(query, page)))


def create(request: FrepoRequest) -> Answer:
    """Generate a token. The answer has its secret, which is never shown again."""
    issued = request.services.tokens.generate(request.body_as(TokenDraft).new_token(), by=request.sender)
    record = request.services.token_inventory.show(issued.fingerprint, by=request.sender)
    body = IssuedToken.issued(record, issued.id)
    return created(request, f"{TOKENS}/{record.fingerprint}", body, token_tag(record))


def show(request: FrepoRequest) -> Answer:
    """Show a token."""
    return _answer(request.services.token_inventory.show(_fingerprint(request), by=request.sender))


def edit(request: FrepoRequest) -> Answer:
    """Change the name, the expiry and the restrictions of a token."""
    return _answer(
        request.services.token_changes.edit(
            _fingerprint(request),
            request.body_as(TokenPatch).values(),
            by=request.sender,
            precondition=if_match(request, token_tag),
        )
    )


def remove(request: FrepoRequest) -> Response:
    """Revoke a token. It is invalid at once."""
    request.services.token_changes.revoke(
        _fingerprint(request), by=request.sender, precondition=if_match(request, token_tag)
    )
    return no_content()


def rotate(request: FrepoRequest) -> Answer:
    """Replace a token by a new one with the same rights and collections. The old one ends after the overlap."""
    done = request.services.token_changes.rotate(
        _fingerprint(request),
        request.body_as(TokenRotation).overlap,
        by=request.sender,
        precondition=if_match(request, token_tag),
    )
    return created(request, f"{TOKENS}/{done.new.fingerprint}", RotatedToken.rotated(done), token_tag(done.new))


def rotate_self(request: FrepoRequest) -> Answer:
    """Replace the token of the request. It stays valid for 7 days, or for a day after the first use of the new one."""
    done = request.services.self_rotation.rotate(request.sender, request.body_as(SelfRotation).token)
    return created(request, f"{TOKENS}/{done.new.fingerprint}", RotatedToken.rotated(done), token_tag(done.new))


def _fingerprint(request: FrepoRequest) -> str:
    """Return the fingerprint in the path. Another text is not repeated in the error: it may be a secret."""
    text = str(request.matchdict["fingerprint"])
    if not re.fullmatch(json_schemas.FINGERPRINT, text.lower()):
        raise NotFoundError("The path has no fingerprint of a token: 12 to 16 hexadecimal digits are expected")
    return text


def _answer(record: TokenRecord) -> Answer:
    return resource(Token.of(record), token_tag(record))


ENDPOINTS = [
    Endpoint(
        name="list_tokens",
        method="GET",
        path=TOKENS,
        view=list_tokens,
        summary="List tokens",
        permission="token.list",
        query=TokenQuery,
        answers={200: TokenPage},
    ),
    Endpoint(
        name="create_token",
        method="POST",
        path=TOKENS,
        view=create,
        summary="Generate a token",
        permission="token.generate",
        body=TokenDraft,
        writes=True,
        answers={201: IssuedToken},
        has_etag=True,
    ),
    show_endpoint(
        name="show_token",
        path=TOKEN,
        view=show,
        summary="Show a token",
        permission="token.list",
        answers={200: Token},
    ),
    edit_endpoint(
        name="edit_token",
        path=TOKEN,
        view=edit,
        summary="Change a token",
        permission="token.change",
        body=TokenPatch,
        answers={200: Token},
    ),
    delete_endpoint(
        name="delete_token",
        path=TOKEN,
        view=remove,
        summary="Revoke a token",
        permission="token.revoke",
    ),
    Endpoint(
        name="rotate_own_token",
        method="POST",
        path=f"{TOKENS}/self/rotate",
        view=rotate_self,
        summary="Replace the own token",
        permission="token",
        body=SelfRotation,
        writes=True,
        answers={201: RotatedToken},
        has_etag=True,
    ),
    Endpoint(
        name="rotate_token",
        method="POST",
        path=f"{TOKEN}/rotate",
        view=rotate,
        summary="Replace a token",
        permission="token.change",
        body=TokenRotation,
        writes=True,
        headers=(IF_MATCH,),
        answers={201: RotatedToken},
        has_etag=True,
    ),
]
