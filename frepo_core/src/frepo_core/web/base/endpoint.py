"""The declaration of an endpoint. Routes, checks, errors and the OpenAPI document are made from it."""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from pydantic import BaseModel
from pyramid.response import Response

from frepo_core.domain.structs import struct

from .body_sink import BodySink
from .request import is_v1_path


@struct
class Answer:
    """An answer of a view: status, body as JSON, and headers. Without a body, such as 204, it is empty."""

    body: BaseModel | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@struct
class Endpoint:
    """The declaration of one endpoint.

    - `name`: its operationId in the OpenAPI document. Client generators make it the name of a function.
    - `view`: called with the request, and with the plug-in's context if it has a second parameter.
    - `permission`: a rule of `domain.permissions`. None is public; a token that is sent must still be valid.
    - `parameters`: what the parameters of the path mean, by name, for the OpenAPI document: a text, or a text and the
      pattern (a regular expression of ECMA-262) of values that the view accepts.
    - `ignores_token`: a public endpoint that does not even look whether a token is valid, and so needs no database. If
      its `body_sink` does, it sets `request.body_owner` to the token: the body may then be silent as long as others.
    - `body`: the model of the JSON body. `content`: True if the body is content to store, not JSON.
    - `collection_field`: the field of the body that names the collection, if the path does not.
    - `before_body`: decides about a large body before it arrives, from the headers, the query, the limits and
      `request.content_length`. It gets the context as the view does. It raises errors that do not need the body, and
      returns the maximum size of the body in bytes, None for no maximum. It must not change anything and may be called
      more than once. The view is called once, when the body has arrived. Without `before_body`, `content` and a body
      with a sink may have any size, other bodies 1 MiB.
    - `body_sink`: called once when the head is complete and everything that does not need the body was checked, with
      the request, and with the plug-in's context if it has a second parameter. It returns a `BodySink`, which gets the
      body while it arrives; then the view is called, with that as `request.body_sink`. It may raise errors, which are
      answered before the body arrives. `before_body` is called before it; a body that exceeds its limit is answered
      with 413. An endpoint with a `body_sink` has neither `body` nor `content`, and is no GET or HEAD.
    - `writes`: True if the endpoint changes something; it is refused in read-only mode.
    - `headers`: the names of request headers that the view reads. Scripts of other origins may send them.
    - `answer_headers`: the names of headers of the answer that scripts of other origins may read.
    - `options_headers`: headers of the answer to OPTIONS, below `/api/v1`.
    - `error_headers`: headers of all errors of this path, such as 401, 404 or 405, unless the error has its own.
    - `method_override`: POST with X-HTTP-Method-Override reaches this endpoint; for PATCH, PUT and DELETE.
    - `answers`: the model for each status. None is a body of the type `media`, no body, or, from 400, an error.
    - `envelope`: the keys that errors have in addition to the common ones, with their empty values.
    - `has_etag`: only below `/api/v1`: the answer has an ETag, which changes take in If-Match.
    - `package`: the distribution that declares it; the service sets it.

    The path decides the API: below `/api/v1`, the conventions of `web/conventions` apply.
    """

    name: str
    method: str
    path: str
    view: Callable[..., Answer | Response]
    summary: str
    permission: str | None
    parameters: Mapping[str, str | tuple[str, str]] = field(default_factory=dict)
    ignores_token: bool = False
    query: type[BaseModel] | None = None
    body: type[BaseModel] | None = None
    collection_field: str | None = None
    content: bool = False
    before_body: Callable[..., int | None] | None = None
    body_sink: Callable[..., BodySink] | None = None
    writes: bool = False
    headers: tuple[str, ...] = ()
    answer_headers: tuple[str, ...] = ()
    options_headers: Mapping[str, str] = field(default_factory=dict)
    error_headers: Mapping[str, str] = field(default_factory=dict)
    method_override: bool = False
    answers: Mapping[int, type[BaseModel] | None] = field(default_factory=dict)
    media: str = "*/*"
    envelope: Mapping[str, Any] = field(default_factory=dict)
    has_etag: bool = False
    package: str = ""

    @property
    def is_v1(self) -> bool:
        """Whether the endpoint belongs to the second API."""
        return is_v1_path(self.path)

    @property
    def takes_body(self) -> bool:
        """Whether the view may read a body."""
        return bool(self.body or self.content or self.body_sink or self.method not in {"GET", "HEAD", "DELETE"})


UPLOAD_ENVELOPE = {"url": None, "back": None, "id": None, "filename": None, "requested_filename": None, "context": None}
COLLECTION_ENVELOPE: Mapping[str, Any] = {"errors": {}, "collection": None, "context": None}
VERSION_ENVELOPE = {"field": None, "errors": None, "version": None, "collection": None}
LINK_ENVELOPE = {"url": None}
