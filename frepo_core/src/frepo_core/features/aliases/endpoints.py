"""The endpoints of aliases: alternative names of files."""

from typing import TYPE_CHECKING
from urllib.parse import quote

from pydantic import Field
from pyramid.response import Response

from frepo_core.web.base.endpoint import Answer, Endpoint
from frepo_core.web.base.request import V1, FrepoRequest
from frepo_core.web.conventions.answers import created, delete_endpoint, no_content, resource, show_endpoint
from frepo_core.web.conventions.entity_tags import IF_MATCH, entity_tag, if_match
from frepo_core.web.conventions.paging import PageQuery, PageReply, next_cursor, page_request
from frepo_core.web.schemas.models import Form, Reply

from .feature import AliasServices

if TYPE_CHECKING:
    from .aliases import AliasRecord

ALIASES = f"{V1}/aliases"
ALIAS = f"{ALIASES}/{{alias}}"


class AliasTarget(Form):
    """The stored name of the file that an alias stands for."""

    file: str = Field(min_length=1, max_length=255)


class Alias(Reply):
    """An alias. `read_only` says that it is in the file of `ids_mapping.file`, where only the operator changes it."""

    alias: str
    file: str
    read_only: bool

    @classmethod
    def of(cls, record: "AliasRecord") -> "Alias":
        """Convert an alias."""
        return cls(alias=record.name, file=record.file, read_only=record.is_read_only)


class AliasPage(PageReply[Alias]):
    """A page of aliases: first those of the file, then those in the database, each by name."""


def alias_tag(record: "AliasRecord") -> str:
    """Return the ETag of an alias."""
    return entity_tag(Alias.of(record), AliasTarget)


def list_aliases(request: FrepoRequest) -> Answer:
    """List the aliases."""
    query = request.query_as(PageQuery)
    page = request.services.feature(AliasServices).aliases.page(page_request(query))
    return Answer(body=AliasPage(items=[Alias.of(one) for one in page.items], next=next_cursor(query, page)))


def show(request: FrepoRequest) -> Answer:
    """Show an alias."""
    record = request.services.feature(AliasServices).aliases.get(request.matchdict["alias"])
    return resource(Alias.of(record), alias_tag(record))


def put(request: FrepoRequest) -> Answer:
    """Make an alias, or give it another file."""
    record, is_new = request.services.feature(AliasServices).aliases.put(
        request.matchdict["alias"],
        request.body_as(AliasTarget).file,
        by=request.sender,
        precondition=if_match(request, alias_tag),
    )
    if is_new:
        return created(request, f"{ALIASES}/{quote(record.name)}", Alias.of(record), alias_tag(record))
    return resource(Alias.of(record), alias_tag(record))


def remove(request: FrepoRequest) -> Response:
    """Delete an alias."""
    request.services.feature(AliasServices).aliases.delete(
        request.matchdict["alias"], by=request.sender, precondition=if_match(request, alias_tag)
    )
    return no_content()


ENDPOINTS = [
    Endpoint(
        name="list_aliases",
        method="GET",
        path=ALIASES,
        view=list_aliases,
        summary="List aliases",
        permission="aliases.manage",
        query=PageQuery,
        answers={200: AliasPage},
    ),
    show_endpoint(
        name="show_alias",
        path=ALIAS,
        view=show,
        summary="Show an alias",
        permission="aliases.manage",
        answers={200: Alias},
    ),
    Endpoint(
        name="put_alias",
        method="PUT",
        path=ALIAS,
        view=put,
        summary="Make or change an alias",
        permission="aliases.manage",
        body=AliasTarget,
        writes=True,
        headers=(IF_MATCH,),
        answers={200: Alias, 201: Alias},
        has_etag=True,
    ),
    delete_endpoint(
        name="delete_alias",
        path=ALIAS,
        view=remove,
        summary="Delete an alias",
        permission="aliases.manage",
    ),
]
