"""The endpoints of deleted collections: list, restore and end."""

from typing import Literal

from pyramid.response import Response

from frepo_core.services.backups.trash.deleted_collections import DeletedCollectionRecord

from ...base.endpoint import Answer, Endpoint
from ...base.request import V1, FrepoRequest
from ...conventions.answers import created, no_content
from ...conventions.paging import PageQuery, PageReply, next_cursor, page_request
from ...conventions.types import LARGEST_NUMBER, Time, Whole
from ...schemas.models import Reply
from ...views.downloads import send_itself
from .collections import COLLECTIONS, body_of
from .models import Collection, collection_tag
from .trash import read_by

DELETED = f"{V1}/deleted-collections"
ENTRY = f"{DELETED}/{{deleted}}"


class DeletedCollection(Reply):
    """A deleted collection, and with how many versions and bytes it would be restored.

    Several may have had the same `id`: `incarnation` distinguishes them.
    """

    id: str
    incarnation: str
    name: str
    description: str
    versions: Whole
    size: Whole
    deleted_at: Time
    deleted_by: str
    ends_at: Time

    @classmethod
    def of(cls, record: DeletedCollectionRecord) -> "DeletedCollection":
        """Convert a deleted collection."""
        return cls(**vars(record))


class DeletedCollectionPage(PageReply[DeletedCollection]):
    """A page of deleted collections. `next` is the `cursor` of the next page, null on the last one."""


class DeletedCollectionQuery(PageQuery):
    """The order of the deleted collections."""

    sort: Literal["deleted_at", "-deleted_at"] = "-deleted_at"


def list_deleted(request: FrepoRequest) -> Answer:
    """List the deleted collections that the token may restore: those whose list had it."""
    query = request.query_as(DeletedCollectionQuery)
    page = request.services.deleted_collections.page(page_request(query), by=request.sender)
    items = [DeletedCollection.of(one) for one in page.items]
    return Answer(body=DeletedCollectionPage(items=items, next=next_cursor(query, page)))


def restore(request: FrepoRequest) -> Answer:
    """Restore a collection under its id, with its settings, its list of tokens, and its versions."""
    restored = request.services.deleted_collections.restore(request.matchdict["deleted"], by=request.sender)
    record = restored.collection
    return created(request, f"{COLLECTIONS}/{record.id}", body_of(request, record), collection_tag(record))


def end(request: FrepoRequest) -> Response:
    """Delete a deleted collection for good, with all that is in its trash."""
    request.services.deleted_collections.end(request.matchdict["deleted"], by=request.sender)
    return no_content()


def send_content(request: FrepoRequest) -> Response:
    """Send the content of a version of a deleted collection, whole or in ranges. Nothing is restored."""
    number = min(int(request.matchdict["number"][:19]), LARGEST_NUMBER)
    file = request.services.trash_contents.find_deleted(request.matchdict["deleted"], number, **read_by(request))
    return send_itself(request, file)


ENDPOINTS = [
    Endpoint(
        name="list_deleted_collections",
        method="GET",
        path=DELETED,
        view=list_deleted,
        summary="List deleted collections",
        permission="collection.list_deleted",
        query=DeletedCollectionQuery,
        answers={200: DeletedCollectionPage},
    ),
    Endpoint(
        name="restore_collection",
        method="POST",
        path=f"{ENTRY}/restore",
        view=restore,
        summary="Restore a deleted collection",
        permission="collection.restore",
        writes=True,
        answers={201: Collection},
        has_etag=True,
    ),
    Endpoint(
        name="end_deleted_collection",
        method="DELETE",
        path=ENTRY,
        view=end,
        summary="End a deleted collection",
        permission="collection.restore",
        writes=True,
        answers={204: None},
    ),
    Endpoint(
        name="download_version_of_deleted_collection",
        method="GET",
        path=f"{ENTRY}/trash/{{number:[0-9]+}}/content",
        view=send_content,
        summary="Download a version of a deleted collection",
        permission="collection.restore",
        answers={200: None, 206: None, 304: None},
    ),
]
