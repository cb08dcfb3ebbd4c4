"""The endpoints of a collection's list of tokens."""

from pydantic import Field

from ..base.endpoint import Answer, Endpoint
from ..base.request import FrepoRequest
from ..schemas import json_schemas
from ..schemas.models import Form, Reply, Simulate
from .collections import CollectionObject


class TokenForm(Form):
    """A token to add to a collection's list."""

    token: str = Field(max_length=64, examples=[json_schemas.A_TOKEN])


class CollectionTokenId(Reply):
    """A token's id."""

    id: str


class CollectionTokenData(Reply):
    """The token, the collection, and the number of tokens on its list now."""

    token: CollectionTokenId
    collection: CollectionObject
    tokens_count: int


class CollectionTokenReply(Reply):
    """The answer to a change of a collection's list."""

    status: str = "OK"
    http_code: int = 200
    data: CollectionTokenData


def allow_token(request: FrepoRequest) -> Answer:
    """Add a token to the list. It may be on the list already."""
    token_id = request.body_as(TokenForm).token
    key = request.services.tokens.key(token_id)
    count = request.services.token_lists.allow(
        request.collection.id, key, by=request.sender, simulate=request.query_as(Simulate).simulate
    )
    return _list_changed(request, token_id, count)


def disallow_token(request: FrepoRequest) -> Answer:
    """Remove a token from the list. It may be missing already."""
    token_id = request.matchdict["token"]
    key = request.services.tokens.key(token_id)
    count = request.services.token_lists.disallow(
        request.collection.id, key, by=request.sender, simulate=request.query_as(Simulate).simulate
    )
    return _list_changed(request, token_id, count)


def _list_changed(request: FrepoRequest, token_id: str, count: int) -> Answer:
    data = CollectionTokenData(
        token=CollectionTokenId(id=token_id.lower()),
        collection=CollectionObject.of(request.collection),
        tokens_count=count,
    )
    return Answer(body=CollectionTokenReply(data=data))


ENDPOINTS = [
    Endpoint(
        name="allow_token",
        method="POST",
        path="/repository/collection/{collection}/token",
        view=allow_token,
        summary="Allow a token in a collection",
        permission="collection.tokens",
        query=Simulate,
        body=TokenForm,
        writes=True,
        answers={200: CollectionTokenReply},
    ),
    Endpoint(
        name="disallow_token",
        method="DELETE",
        path="/repository/collection/{collection}/token/{token}",
        view=disallow_token,
        summary="Take a token off a collection's list",
        permission="collection.tokens",
        query=Simulate,
        writes=True,
        answers={200: CollectionTokenReply},
    ),
]
