"""The context of a request for the security policy: its collection."""

from typing import Any

from frepo_core.domain.structs import struct
from frepo_core.errors import FieldsError
from frepo_core.services.base.records import CollectionRecord

from .dialect import dialect_of
from .request import LISTED, SENDER, FrepoRequest


@struct
class Context:
    """The collection in the path, if any, and whether it lists the request's token."""

    collection: CollectionRecord | None = None
    listed: bool = False


def make_context(request: FrepoRequest) -> Context:
    """Load the collection in the path. An invalid token is refused before, so that it learns nothing.

    Raises `FieldsError` if it does not exist, below `/api/v1` `NotFoundError`.
    """
    collection_id: Any = request.matchdict.get("collection")
    if collection_id is None:
        return Context()
    if request.endpoint.permission is None and not request.token_id:  # an endpoint of a plug-in that is public
        return Context(collection=request.services.collections.get(collection_id))
    try:
        return collection_context(request, collection_id)
    except FieldsError as error:
        raise dialect_of(request).missing_collection(collection_id, error) from None


def collection_context(request: FrepoRequest, collection_id: str) -> Context:
    """Return the context of a collection. Raises `FieldsError` if it does not exist."""
    collection, listed = request.services.collections.get_for_token(collection_id, request.sender)
    if request.sender is request.environ.get(SENDER):  # it has expired since the head arrived, and was cleared
        listed = request.environ[LISTED]
    return Context(collection=collection, listed=listed)
