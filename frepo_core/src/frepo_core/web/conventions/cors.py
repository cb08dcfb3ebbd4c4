"""Cross-origin requests (the Fetch standard, CORS): browsers of the origins in `cors.origins` may call `/api/v1`."""

from pyramid.response import Response

from ..base.path_headers import PathHeaders
from ..base.request import FrepoRequest

# Tokens are in a header that scripts set, so no credentials of the browser are needed.
REQUEST_HEADERS = (
    "Authorization, X-Auth-Token, X-File-Password, Content-Type, If-Match, If-None-Match, If-Range, Range, "
    "Idempotency-Key, Repr-Digest, Content-Digest"
)
ANSWER_HEADERS = (
    "Location, ETag, Repr-Digest, Retry-After, WWW-Authenticate, Content-Disposition, Content-Range, Accept-Ranges"
)
PREFLIGHT_SECONDS = "600"


def allow_origin(request: FrepoRequest, path: PathHeaders) -> None:
    """Add the headers to the answer, also to an error, if the request's origin is one of `cors.origins`.

    `path` has the methods of the path, for the request with which a browser asks before (a preflight), and the headers
    that its endpoints declare.
    """
    origins = request.services.settings.cors_origins
    if not origins:
        return

    def add_headers(request: FrepoRequest, response: Response) -> None:
        response.headers["Vary"] = "Origin"
        if request.headers.get("Origin") not in origins:
            return
        response.headers["Access-Control-Allow-Origin"] = request.headers["Origin"]
        response.headers["Access-Control-Expose-Headers"] = _joined(ANSWER_HEADERS, path.answer_headers)
        if request.method == "OPTIONS":
            response.headers["Access-Control-Allow-Methods"] = path.methods
            response.headers["Access-Control-Allow-Headers"] = _joined(REQUEST_HEADERS, path.request_headers)
            response.headers["Access-Control-Max-Age"] = PREFLIGHT_SECONDS

    request.add_response_callback(add_headers)


def _joined(names: str, more: tuple[str, ...]) -> str:
    known = names.lower().split(", ")
    return ", ".join([names, *(name for name in more if name.lower() not in known)])
