"""The endpoint of the checks of all versions of a collection."""

from ...base.endpoint import Answer, Endpoint
from ...base.request import FrepoRequest
from ...conventions.paging import next_cursor, page_request
from .collections import COLLECTION
from .version_models import VersionCheck, VersionCheckPage, VersionCheckQuery


def list_collection_checks(request: FrepoRequest) -> Answer:
    """List the results of the checks of all versions: those of plug-ins, restore tests, and those of clients."""
    query = request.query_as(VersionCheckQuery)
    page = request.services.version_checks.page(request.collection.id, page_request(query), query.outcome)
    items = [VersionCheck.of(one) for one in page.items]
    return Answer(body=VersionCheckPage(items=items, next=next_cursor(query, page)))


ENDPOINTS = [
    Endpoint(
        name="list_collection_checks",
        method="GET",
        path=f"{COLLECTION}/checks",
        view=list_collection_checks,
        summary="List the checks of all versions",
        permission="version.list",
        query=VersionCheckQuery,
        answers={200: VersionCheckPage},
    ),
]
