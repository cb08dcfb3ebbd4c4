"""Answers of the second API: a resource with its ETag, a created one with its Location, and 204 after DELETE."""

from collections.abc import Sequence

from pydantic import BaseModel
from pyramid.response import Response

from ..base.endpoint import Answer
from ..base.request import FrepoRequest


def resource(body: BaseModel, tag: str | None = None) -> Answer:
    """Answer 200 with a single resource; `tag` is from `entity_tags.entity_tag`."""
    return Answer(body=body, headers={} if tag is None else {"ETag": f'"{tag}"'})


def created(request: FrepoRequest, path: str, body: BaseModel, tag: str | None = None) -> Answer:
    """Answer 201 with the new resource, which is at `path`."""
    headers = {"Location": request.link(path)} | ({} if tag is None else {"ETag": f'"{tag}"'})
    return Answer(status=201, body=body, headers=headers)


def no_content(headers: Sequence[tuple[str, str]] = ()) -> Response:
    """Answer 204, after a deletion."""
    return Response(status=204, headerlist=list(headers))
