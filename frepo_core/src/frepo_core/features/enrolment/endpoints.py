"""The endpoints of one-time codes: administrators make them, and a host gets its token with one."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field
from pyramid.response import Response

from frepo_core.web.base.endpoint import Answer, Endpoint
from frepo_core.web.base.request import V1, FrepoRequest
from frepo_core.web.conventions.answers import created, no_content, resource
from frepo_core.web.conventions.paging import PageQuery, PageReply, next_cursor, page_request
from frepo_core.web.conventions.types import End, Fingerprint, Time
from frepo_core.web.schemas import json_schemas
from frepo_core.web.schemas.models import Form, Reply
from frepo_core.web.schemas.token_fields import TokenName
from frepo_core.web.v1.tokens.models import TokenCollection
from frepo_core.web.v1.tokens.tokens import TOKENS

from .codes import NewCode
from .feature import EnrolmentServices

if TYPE_CHECKING:
    from .codes import CodeRecord
    from .codes import IssuedCode as Issued
    from .redemption import Enrolment as Redeemed

ENROLMENTS = f"{V1}/enrolments"
ENROLMENT = f"{ENROLMENTS}/{{enrolment}}"
Uuid4 = Annotated[str, Field(pattern=json_schemas.UUID4, examples=[json_schemas.A_TOKEN])]
CollectionId = Annotated[str, Field(pattern=json_schemas.UUID4, examples=[json_schemas.A_COLLECTION])]


class Enrolment(Reply):
    """A one-time code, without the code. `name` is that of the token, and `token_expires_at` when that ends.

    `state` is `open`, `used` or `expired`. `created_by` is as of a token. `token` is the fingerprint of the token that
    a host has got with it. `collections` are those that the caller may see.
    """

    id: Uuid4
    name: str
    state: Literal["open", "used", "expired"]
    collections: list[TokenCollection]
    token_expires_at: Time | None
    created_at: Time
    created_by: str
    expires_at: Time
    used_at: Time | None
    token: Fingerprint | None

    @classmethod
    def of(cls, one: "CodeRecord") -> "Enrolment":
        """Convert a code."""
        return cls(**_values(one))


class IssuedEnrolment(Enrolment):
    """A new code. `code` is what the host sends; it is never shown again."""

    code: str

    @classmethod
    def issued(cls, new: "Issued") -> "IssuedEnrolment":
        """Convert a new code."""
        return cls(**_values(new.record), code=new.code)


class EnrolmentPage(PageReply[Enrolment]):
    """A page of codes. `next` is the `cursor` of the next page, null on the last one."""


class EnrolmentDraft(Form):
    """A new code: the name of the token, when that ends (null: never), and the collections that will list it."""

    name: TokenName
    collections: list[CollectionId] = Field(min_length=1, max_length=20)
    token_expires_at: End | None = None


class EnrolmentQuery(PageQuery):
    """Which codes, and in which order."""

    sort: Literal["created_at", "-created_at", "name", "-name"] = "-created_at"


class Redemption(Form):
    """The code, and the token that the host has made itself: a random UUIDv4, which the service has never seen."""

    code: str = Field(min_length=1, max_length=128, examples=["0123456789abcdef0123456789abcdef"])
    token: Uuid4


class EnrolledHost(Reply):
    """The host's token, without its secret, and the collections that list it."""

    name: str
    fingerprint: Fingerprint
    expires_at: Time | None
    collections: list[TokenCollection]

    @classmethod
    def of(cls, done: "Redeemed") -> "EnrolledHost":
        """Convert an enrolment."""
        collections = [TokenCollection(id=one.id, name=one.name) for one in done.collections]
        return cls(name=done.name, fingerprint=done.fingerprint, expires_at=done.expires_at, collections=collections)


def list_enrolments(request: FrepoRequest) -> Answer:
    """List the codes that the caller may see."""
    query = request.query_as(EnrolmentQuery)
    page = request.services.feature(EnrolmentServices).codes.page(page_request(query), by=request.sender)
    items = [Enrolment.of(one) for one in page.items]
    return Answer(body=EnrolmentPage(items=items, next=next_cursor(query, page)))


def create(request: FrepoRequest) -> Answer:
    """Make a one-time code, which is valid for 7 days. The answer has it, and it is never shown again."""
    draft = request.body_as(EnrolmentDraft)
    new = NewCode(name=draft.name, collections=draft.collections, token_expires_at=draft.token_expires_at)
    issued = request.services.feature(EnrolmentServices).codes.create(new, by=request.sender)
    return created(request, f"{ENROLMENTS}/{issued.record.id}", IssuedEnrolment.issued(issued))


def show(request: FrepoRequest) -> Answer:
    """Show a code, and which token was made with it."""
    return resource(
        Enrolment.of(request.services.feature(EnrolmentServices).codes.show(_id(request), by=request.sender))
    )


def remove(request: FrepoRequest) -> Response:
    """Revoke a code. A token that was made with it stays."""
    request.services.feature(EnrolmentServices).codes.revoke(_id(request), by=request.sender)
    return no_content()


def redeem(request: FrepoRequest) -> Answer:
    """Get a token for a one-time code. The same code and token again within an hour are answered the same."""
    sent = request.body_as(Redemption)
    done = request.services.feature(EnrolmentServices).redemption.redeem(
        sent.code, sent.token, address=request.client_address
    )
    return created(request, f"{TOKENS}/{done.fingerprint}", EnrolledHost.of(done))


def _id(request: FrepoRequest) -> str:
    return str(request.matchdict["enrolment"])


def _values(one: "CodeRecord") -> dict[str, Any]:
    collections = [TokenCollection(id=each.id, name=each.name) for each in one.collections]
    return {**vars(one), "collections": collections}


ENDPOINTS = [
    Endpoint(
        name="list_enrolments",
        method="GET",
        path=ENROLMENTS,
        view=list_enrolments,
        summary="List one-time codes",
        permission="token.list",
        query=EnrolmentQuery,
        answers={200: EnrolmentPage},
    ),
    Endpoint(
        name="create_enrolment",
        method="POST",
        path=ENROLMENTS,
        view=create,
        summary="Make a one-time code",
        permission="token.generate",
        body=EnrolmentDraft,
        writes=True,
        answers={201: IssuedEnrolment},
    ),
    Endpoint(
        name="show_enrolment",
        method="GET",
        path=ENROLMENT,
        view=show,
        summary="Show a one-time code",
        permission="token.list",
        answers={200: Enrolment},
    ),
    Endpoint(
        name="delete_enrolment",
        method="DELETE",
        path=ENROLMENT,
        view=remove,
        summary="Revoke a one-time code",
        permission="token.revoke",
        writes=True,
        answers={204: None},
    ),
    Endpoint(
        name="redeem_enrolment",
        method="POST",
        path=f"{V1}/enrolments:redeem",
        view=redeem,
        summary="Get a token for a one-time code",
        permission=None,
        body=Redemption,
        writes=True,
        answers={201: EnrolledHost, 410: None, 429: None},
    ),
]
