"""The endpoint that previews which versions would be evicted."""

from datetime import UTC, datetime

from pydantic import Field

from frepo_core.plugins import CollectionFull, CollectionState, IncomingVersion, VersionInfo
from frepo_core.web import Answer, Endpoint, FrepoRequest, Query, Reply

from .strategy import KeepDaily


class PreviewQuery(Query):
    """The version that would come."""

    size: int = Field(0, ge=0, description="Its size in bytes.")


class PreviewReply(Reply):
    """Whether it would be taken, and the numbers of the versions that would leave for it."""

    fits: bool
    leaving: list[int]


def preview(request: FrepoRequest) -> Answer:
    """Ask the strategy what it would evict now. Nothing changes; the collection may use another strategy."""
    versions = [
        VersionInfo(id=version.id, number=version.number, size=version.file.blob.size, created_at=version.created_at)
        for version in request.services.versions.list(request.collection.id)
    ]
    state = CollectionState(
        max_versions=request.collection.limits.versions,
        max_size=request.collection.limits.total_size,
        stored_size=request.collection.stored_size,
        versions=versions,
    )
    incoming = IncomingVersion(size=request.query_as(PreviewQuery).size, created_at=datetime.now(UTC))
    try:
        leaving = KeepDaily().make_room(state, incoming)
    except CollectionFull:
        return Answer(body=PreviewReply(fits=False, leaving=[]))
    return Answer(body=PreviewReply(fits=True, leaving=[version.number for version in leaving]))


ENDPOINTS = [
    Endpoint(
        name="preview_keep_daily",
        method="GET",
        path="/keep-daily/{collection}/preview",
        view=preview,
        summary="Preview what keep_daily would evict",
        permission="version.list",
        query=PreviewQuery,
        answers={200: PreviewReply},
    )
]
