"""If-None-Match: clients that have the content already get 304 without it (RFC 9110, 13.1.2)."""

import hashlib

from pyramid.response import Response

from ..base.request import FrepoRequest

IF_NONE_MATCH = "If-None-Match"


def is_known(request: FrepoRequest, etag: str) -> bool:
    """Return whether the client has the content with this ETag, which is given without quotes."""
    return IF_NONE_MATCH in request.headers and etag in request.if_none_match


def revalidate(request: FrepoRequest, response: Response) -> Response:
    """Return the answer to a GET with a weak ETag of its body, or 304 if the client has this body already.

    A resource that can be edited has an ETag of its own, which is no validator: see `entity_tags`.
    """
    if "ETag" in response.headers:
        return response
    tag = f'W/"{hashlib.sha256(response.body).hexdigest()[:20]}"'
    known = {one.strip() for one in request.headers.get(IF_NONE_MATCH, "").split(",")}
    if tag in known:
        return Response(status=304, headerlist=[("ETag", tag)])
    response.headers["ETag"] = tag
    return response
