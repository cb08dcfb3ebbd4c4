"""The endpoints of holds: set one, end it, and list the collections that are on hold."""

from typing import Literal

from pyramid.response import Response

from ...base.endpoint import Answer, Endpoint
from ...base.request import V1, FrepoRequest
from ...conventions.answers import no_content, resource
from ...conventions.paging import PageQuery, next_cursor, page_request
from .collections import COLLECTION, body_of
from .hold_models import HeldCollection, HoldPage, NewHold
from .models import Collection, collection_tag

HOLD = f"{COLLECTION}/hold"


class HoldQuery(PageQuery):
    """The order of the collections: by their ids."""

    sort: Literal["collection", "-collection"] = "collection"


def list_holds(request: FrepoRequest) -> Answer:
    """List the collections on hold whose versions the token may list."""
    query = request.query_as(HoldQuery)
    page = request.services.holds.page(page_request(query), by=request.sender)
    return Answer(body=HoldPage(items=HeldCollection.all_of(list(page.items)), next=next_cursor(query, page)))


def hold(request: FrepoRequest) -> Answer:
    """Put a collection on hold, or change the reason of its hold. Nothing leaves it until somebody ends the hold."""
    form = request.body_as(NewHold)
    record = request.services.holds.set(request.collection.id, form.reason, by=request.sender)
    return resource(body_of(request, record), collection_tag(record))


def end_hold(request: FrepoRequest) -> Response:
    """End the hold of a collection. There may be none already."""
    request.services.holds.end(request.collection.id, by=request.sender)
    return no_content()


ENDPOINTS = [
    Endpoint(
        name="list_holds",
        method="GET",
        path=f"{V1}/holds",
        view=list_holds,
        summary="List the collections on hold",
        permission="hold.list",
        query=HoldQuery,
        answers={200: HoldPage},
    ),
    Endpoint(
        name="hold_collection",
        method="PUT",
        path=HOLD,
        view=hold,
        summary="Put a collection on hold",
        permission="collection.hold",
        body=NewHold,
        writes=True,
        answers={200: Collection},
        has_etag=True,
    ),
    Endpoint(
        name="end_hold",
        method="DELETE",
        path=HOLD,
        view=end_hold,
        summary="End the hold of a collection",
        permission="collection.end_hold",
        writes=True,
        answers={204: None},
    ),
]
