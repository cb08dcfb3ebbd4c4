"""One declaration for each endpoint, from which routes, checks, errors and documents are made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from pyramid.response import Response

from .request import FrepoRequest


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a view answers: a status, a body and headers."""

    body: BaseModel
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An endpoint. `permission` names a rule of `domain.access`; None: public, though a token sent along must be good.

    `name` is its name in the OpenAPI document, where client generators make functions of it.
    `envelope` holds the keys that this endpoint's errors carry beside the common ones, with their empty values.
    `before_body` decides about a large body before it arrives: it raises what can be refused without the body, by
    headers, query, limits and `request.content_length`, and returns how many bytes the body may have, None for any
    number. It changes nothing, and may be called more than once; the view is called once, when the body is there.
    Without it, `content` may have any size, and every other body 1 MiB.
    `content`: the body is content to store, and is not parsed as JSON. `collection_field` names the field of
    the body that says which collection it is about, where the path does not. `headers` names what the view reads of `headers.py`. An answer without a model has a
    body of the type `media`, or none.
    """

    name: str
    method: str
    path: str
    view: Callable[[FrepoRequest], Answer | Response]
    summary: str
    permission: str | None
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

    @property
    def takes_body(self) -> bool:
        """Tell whether the view may read a body."""
        return bool(self.body or self.content or self.method not in {"GET", "HEAD", "DELETE"})


UPLOAD_ENVELOPE = {"url": None, "back": None, "id": None, "filename": None, "requested_filename": None, "context": None}
COLLECTION_ENVELOPE: Mapping[str, Any] = {"errors": {}, "collection": None, "context": None}
VERSION_ENVELOPE = {"field": None, "errors": None, "version": None, "collection": None}
LINK_ENVELOPE = {"url": None}
