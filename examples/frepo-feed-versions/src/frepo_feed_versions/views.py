"""The endpoint of the feed."""

from urllib.parse import urlencode

from pydantic import Field
from pyramid.response import Response

from frepo_core.plugins import PluginContext, readable_size
from frepo_core.web import Endpoint, FrepoRequest, Query, version_path

from .atom import Entry, make_feed

LENGTH = 50


class FeedQuery(Query):
    """Which part of the feed."""

    after: str | None = Field(None, max_length=200, description="From the link `next` of the part before.")


def show(request: FrepoRequest, context: PluginContext) -> Response:
    """Answer a page of the versions as an Atom feed."""
    collection, query = request.collection, request.query_as(FeedQuery)
    page = context.service.versions(collection.id, after=query.after, limit=LENGTH, by=request.sender)
    entries = [
        Entry(
            id=f"urn:uuid:{version.id}",
            title=f"{version.name}, version {version.number}: {version.verdict}",
            updated=version.created_at,
            link=request.link(version_path(collection.id, version.number)),
            summary=f"{readable_size(version.size)}, SHA-256 {version.sha256}. {version.verdict_reason}".rstrip(),
        )
        for version in page.items
    ]
    path = f"/feed/{collection.id}"
    following = request.link(f"{path}?{urlencode({'after': page.next})}") if page.next else None
    feed = make_feed(
        f"urn:uuid:{collection.id}",
        f"Versions of {collection.filename}",
        entries,
        updated=collection.created_at,
        self_link=request.link(path),
        next_link=following,
    )
    return Response(body=feed, content_type="application/atom+xml", charset="utf-8")


ENDPOINTS = [
    Endpoint(
        name="show_version_feed",
        method="GET",
        path="/feed/{collection}",
        view=show,
        summary="Show the versions as an Atom feed",
        permission="version.list",
        query=FeedQuery,
        answers={200: None},
        media="application/atom+xml",
    )
]
