"""The declaration of an endpoint. Routes, checks, errors and the OpenAPI document are made from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from pyramid.response import Response

from .request import FrepoRequest, is_v1_path


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A JSON answer of a view: status, body and headers."""

    body: BaseModel
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """The declaration of one endpoint.

    - `name`: its operationId in the OpenAPI document. Client generators make it the name of a function.
    - `view`: called with the request, and with the plug-in's context if it has a second parameter.
    - `permission`: a rule of `domain.access`. None is public; a token that is sent must still be valid.
    - `ignores_token`: a public endpoint that does not even look whether a token is valid, and so needs no database.
    - `body`: the model of the JSON body. `content`: True if the body is content to store, not JSON.
    - `collection_field`: the field of the body that names the collection, if the path does not.
    - `before_body`: decides about a large body before it arrives, from the headers, the query, the limits and
      `request.content_length`. It raises errors that do not need the body, and returns the maximum size of the body in
      bytes, None for no maximum. It must not change anything and may be called more than once. The view is called once,
      when the body has arrived. Without `before_body`, `content` may have any size, other bodies 1 MiB.
    - `writes`: True if the endpoint changes something; it is refused in read-only mode.
    - `headers`: the names of `schemas.request_headers` that the view reads.
    - `answers`: the model for each status. None is a body of the type `media`, or no body.
    - `envelope`: the keys that errors have in addition to the common ones, with their empty values.
    - `has_etag`: only below `/api/v1`: the answer has an ETag, which changes take in If-Match.

    The path decides the API: below `/api/v1`, the conventions of `web/conventions` apply.
    """

    name: str
    method: str
    path: str
    view: Callable[..., Answer | Response]
    summary: str
    permission: str | None
    ignores_token: bool = False
    query: type[BaseModel] | None = None
    body: type[BaseModel] | None = None
    collection_field: str | None = None
    content: bool = False
    before_body: Callable[[FrepoRequest], int | None] | None = None
    writes: bool = False
    headers: tuple[str, ...] = ()
    answers: Mapping[int, type[BaseModel] | None] = field(default_factory=dict)
    media: str = "*/*"
    envelope: Mapping[str, Any] = field(default_factory=dict)
    has_etag: bool = False

    @property
    def is_v1(self) -> bool:
        """Whether the endpoint belongs to the second API."""
        return is_v1_path(self.path)

    @property
    def takes_body(self) -> bool:
        """Whether the view may read a body."""
        return bool(self.body or self.content or self.method not in {"GET", "HEAD", "DELETE"})


UPLOAD_ENVELOPE = {"url": None, "back": None, "id": None, "filename": None, "requested_filename": None, "context": None}
COLLECTION_ENVELOPE: Mapping[str, Any] = {"errors": {}, "collection": None, "context": None}
VERSION_ENVELOPE = {"field": None, "errors": None, "version": None, "collection": None}
LINK_ENVELOPE = {"url": None}
