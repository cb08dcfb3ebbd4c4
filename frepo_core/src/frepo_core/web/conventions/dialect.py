"""The conventions of the second API, below `/api/v1`."""

from typing import Any

from pydantic import BaseModel
from pyramid.httpexceptions import HTTPException, HTTPMethodNotAllowed, HTTPNoContent, HTTPPreconditionFailed
from pyramid.response import Response

from frepo_core import errors

from ..base.dialect import Dialect
from ..base.endpoint import Endpoint
from ..base.path_headers import NO_PATH, PathHeaders
from ..base.request import FrepoRequest
from ..content.if_none_match import revalidate
from . import problems, validation

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


class SecondDialect(Dialect):
    """Tokens in headers only, strict queries, problem details (RFC 9457), CORS, and ETags of all JSON answers."""

    token_headers = ("HTTP_X_AUTH_TOKEN",)

    def parse_query(self, endpoint: Endpoint, request: FrepoRequest) -> None:
        """Validate the query. Unknown parameters are refused, also by endpoints without a query."""
        request.parsed_query = validation.parse_query(endpoint.query, request.params_in_query)

    def parse_body(self, model: type[BaseModel], request: FrepoRequest) -> BaseModel:
        """Validate the JSON body. All wrong fields are reported at once."""
        return validation.parse_body(model, request)

    def begin(self, request: FrepoRequest, path: PathHeaders = NO_PATH) -> None:
        """Add the headers for browsers of other origins to the answer."""
        allow_origin(request, path)

    def refuse_method(self, request: FrepoRequest, path: PathHeaders) -> HTTPException:
        """Return a 405, or the answer to OPTIONS."""
        if request.method == "OPTIONS":
            return HTTPNoContent(headers={"Allow": f"{path.methods}, OPTIONS", **path.options_headers})
        return HTTPMethodNotAllowed(headers={"Allow": path.methods})

    def missing_collection(self, collection_id: str, error: errors.FieldsError) -> errors.FrepoError:
        """Return a 404."""
        return errors.NotFoundError(f"There is no collection with the id {collection_id[:64]!r}")

    def finish(self, request: FrepoRequest, response: Response) -> Response:
        """Add an ETag to the answer to a GET, or answer 304."""
        return revalidate(request, response) if request.endpoint.method == "GET" else response

    def status_of(self, request: FrepoRequest, error: errors.FrepoError, default: int) -> int:
        """Return 401 without a valid token, and the statuses that only this API has."""
        return problems.status_of(request, error, default)

    def text_of(self, error: HTTPException) -> str:
        """Return what `entity_tags` says about a failed condition, else the title."""
        detail = error.detail if isinstance(error, HTTPPreconditionFailed) else None
        return str(detail or error.title)

    def answer_error(self, request: FrepoRequest, error: errors.FrepoError, message: str, status: int) -> Response:
        """Return a problem with all wrong fields."""
        return problems.answer(request, error, message, status)

    def answer_text(self, request: FrepoRequest, message: str, number: int, status: int, /, **more: Any) -> Response:
        """Return a problem."""
        return problems.problem(request, message, number, status, **more)

    def server_error(self, text: str, status: int, base_path: str) -> tuple[str, bytes] | None:
        """Return a problem for a request that the server could not parse."""
        return problems.MEDIA, problems.server_problem(text, status, base_path)
