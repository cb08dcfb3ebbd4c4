"""Answers of the second API: a resource with its ETag, a created one with its Location, and 204 after DELETE."""

from functools import partial

from pydantic import BaseModel
from pyramid.response import Response

from ..base.endpoint import Answer, Endpoint
from ..base.request import FrepoRequest
from .entity_tags import IF_MATCH


def resource(body: BaseModel, tag: str | None = None) -> Answer:
    """Answer 200 with a single resource; `tag` is from `entity_tags.entity_tag`."""
    return Answer(body=body, headers={} if tag is None else {"ETag": f'"{tag}"'})


def created(request: FrepoRequest, path: str, body: BaseModel, tag: str | None = None) -> Answer:
    """Answer 201 with the new resource, which is at `path`."""
    headers = {"Location": request.link(path)} | ({} if tag is None else {"ETag": f'"{tag}"'})
    return Answer(status=201, body=body, headers=headers)


def no_content() -> Response:
    """Answer 204, after a deletion."""
    return Response(status=204, headerlist=[])


show_endpoint = partial(Endpoint, method="GET", has_etag=True)
edit_endpoint = partial(Endpoint, method="PATCH", writes=True, headers=(IF_MATCH,), has_etag=True)
delete_endpoint = partial(Endpoint, method="DELETE", writes=True, headers=(IF_MATCH,), answers={204: None})
