"""Weak ETags of answers, so that clients which ask again get 304 as long as nothing has changed (RFC 9110, 13.1.2)."""

import hashlib

from pyramid.response import Response

from ..base.request import FrepoRequest


def revalidate(request: FrepoRequest, response: Response) -> Response:
    """Return the answer to a GET with a weak ETag of its body, or 304 if the client has this body already.

    A resource that can be edited has an ETag of its own, which is no validator: see `entity_tags`.
    """
    if "ETag" in response.headers:
        return response
    tag = f'W/"{hashlib.sha256(response.body).hexdigest()[:20]}"'
    known = {one.strip() for one in request.headers.get("If-None-Match", "").split(",")}
    if tag in known:
        return Response(status=304, headerlist=[("ETag", tag)])
    response.headers["ETag"] = tag
    return response
