"""What differs between the two APIs. `views/dialect.py` is the first one's, `conventions/dialect.py` the second's."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from pydantic import BaseModel
from pyramid.httpexceptions import HTTPException
from pyramid.response import Response

from frepo_core import errors

from .endpoint import Endpoint
from .path_headers import NO_PATH, PathHeaders
from .request import FrepoRequest, is_v1_path


class Dialect(ABC):
    """The conventions of one API: where tokens come from, and how queries, bodies, errors and answers look."""

    token_headers: ClassVar[tuple[str, ...]]  # WSGI's names are fast

    def token_of(self, request: FrepoRequest) -> str:
        """Return the token id in the headers, or an empty text."""
        for header in self.token_headers:
            if value := request.environ.get(header):
                return str(value).strip()
        scheme, _, credentials = request.environ.get("HTTP_AUTHORIZATION", "").partition(" ")
        return str(credentials).strip() if scheme.lower() == "bearer" else ""

    @abstractmethod
    def parse_query(self, endpoint: Endpoint, request: FrepoRequest) -> None:
        """Validate the query into `request.parsed_query`. Raises `FieldsError`."""

    @abstractmethod
    def parse_body(self, model: type[BaseModel], request: FrepoRequest) -> BaseModel:
        """Validate the JSON body. Raises `MalformedRequestError` or `FieldsError`."""

    def begin(self, request: FrepoRequest, path: PathHeaders = NO_PATH) -> None:
        """Prepare the answer to a request for a path."""

    @abstractmethod
    def refuse_method(self, request: FrepoRequest, path: PathHeaders) -> HTTPException:
        """Return the answer to a method that the path does not have."""

    def missing_collection(self, collection_id: str, error: errors.FieldsError) -> errors.FrepoError:
        """Return the error for a path with an id that no collection has; `error` is that of the services."""
        return error

    def finish(self, request: FrepoRequest, response: Response) -> Response:
        """Return the answer with what the API adds to JSON answers."""
        return response

    def status_of(self, request: FrepoRequest, error: errors.FrepoError, default: int) -> int:
        """Return the HTTP status of an error; `default` is the one that most errors have in both APIs."""
        return default

    def text_of(self, error: HTTPException) -> str:
        """Return the text of an error of Pyramid."""
        return str(error.title)

    @abstractmethod
    def answer_error(self, request: FrepoRequest, error: errors.FrepoError, message: str, status: int) -> Response:
        """Return the answer to an error of the services; `message` is what clients may read of it."""

    @abstractmethod
    def answer_text(self, request: FrepoRequest, message: str, number: int, status: int, /, **more: Any) -> Response:
        """Return the answer to another error."""

    def server_error(self, text: str, status: int, base_path: str) -> tuple[str, bytes] | None:
        """Return media type and body of an error of the server; None: what the server itself sends."""
        return None


def dialect_of(request: FrepoRequest) -> Dialect:
    """Return the dialect of the API to which the path of the request belongs."""
    dialect: Dialect = request.registry.dialects[request.is_v1]
    return dialect


def dialect_at(registry: Any, path: str) -> Dialect:
    """Return the dialect of a path without the base path."""
    dialect: Dialect = registry.dialects[is_v1_path(path)]
    return dialect
