"""The endpoints of a collection's list of tokens, which are named by their fingerprints."""

from pyramid.response import Response

from frepo_core.domain.identity import Identity

from ...base.endpoint import Answer, Endpoint
from ...base.request import FrepoRequest
from ...conventions.answers import no_content
from ...conventions.types import Fingerprint, Time
from ...schemas.models import Reply
from .collections import COLLECTION

ACCESS = f"{COLLECTION}/access"
# Not a token's id: a URL must not contain one.
ENTRY = f"{ACCESS}/{{fingerprint:[0-9a-f]+}}"


class AccessEntry(Reply):
    """A token on the list. What it may do there depends on its roles."""

    fingerprint: Fingerprint
    name: str | None
    roles: list[str]
    expires_at: Time | None

    @classmethod
    def of(cls, token: Identity) -> "AccessEntry":
        """Convert a token."""
        return cls(
            fingerprint=token.fingerprint,
            name=token.name or None,
            roles=sorted(token.roles),
            expires_at=token.expires_at,
        )


class AccessList(Reply):
    """All tokens on the list, by fingerprint. It is not split into pages, so `next` is always null."""

    items: list[AccessEntry]
    next: str | None = None


def list_access(request: FrepoRequest) -> Answer:
    """List the tokens that may use the collection."""
    tokens = request.services.token_lists.tokens(request.collection.id)
    return Answer(body=AccessList(items=[AccessEntry.of(token) for token in tokens]))


def grant(request: FrepoRequest) -> Answer:
    """Put a token on the list. It may be there already."""
    fingerprint = request.matchdict["fingerprint"]
    token, is_new = request.services.token_lists.grant(request.collection.id, fingerprint, by=request.sender)
    return Answer(status=201 if is_new else 200, body=AccessEntry.of(token), headers=_location(request, is_new))


def _location(request: FrepoRequest, is_new: bool) -> dict[str, str]:
    return {"Location": request.link(request.path)} if is_new else {}


def revoke(request: FrepoRequest) -> Response:
    """Take a token off the list. It may be missing already."""
    request.services.token_lists.revoke(request.collection.id, request.matchdict["fingerprint"], by=request.sender)
    return no_content()


ENDPOINTS = [
    Endpoint(
        name="list_access",
        method="GET",
        path=ACCESS,
        view=list_access,
        summary="List the tokens of a collection",
        permission="collection.tokens",
        answers={200: AccessList},
    ),
    Endpoint(
        name="grant_access",
        method="PUT",
        path=ENTRY,
        view=grant,
        summary="Allow a token in a collection",
        permission="collection.tokens",
        writes=True,
        answers={200: AccessEntry, 201: AccessEntry},
    ),
    Endpoint(
        name="revoke_access",
        method="DELETE",
        path=ENTRY,
        view=revoke,
        summary="Take a token off a collection's list",
        permission="collection.tokens",
        writes=True,
        answers={204: None},
    ),
]
