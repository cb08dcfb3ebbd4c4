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
from . import cors, problems, validation


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
        cors.allow_origin(request, path)

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
