"""The models of error answers in the OpenAPI document; `routing/error_views` builds the answers."""

from typing import Any
from uuid import UUID

from pydantic import Field

from ..base.endpoint import COLLECTION_ENVELOPE, LINK_ENVELOPE, UPLOAD_ENVELOPE, VERSION_ENVELOPE, Endpoint
from ..schemas.models import Reply


class ErrorReply(Reply):
    """An error: a text for people and a stable number for programs. Only the first four keys are always there.

    `fields` lists the invalid fields of a form. `field` and `errors` name the broken rule of a collection, `context`
    has its values. `error_id` is the id of a bug in the service's log.
    """

    status: str = Field(examples=["Validation error"])
    error_code: int = Field(examples=[400])
    http_code: int = Field(ge=400, le=599, examples=[400])
    exit_code: int = Field(ge=400, le=599, examples=[400])
    fields: dict[str, list[str]] = Field({}, examples=[{"form.fileName": ["A file name is needed"]}])
    context: dict[str, Any] | None = None
    field: str | None = None
    errors: dict[str, str] | None = None
    message: str | None = None
    error_id: UUID | None = None


class UploadErrorReply(ErrorReply):
    """An error of an upload, with the keys of a success."""

    context: dict[str, Any] | None
    url: str | None
    back: str | None
    id: int | None
    filename: str | None
    requested_filename: str | None


class CollectionErrorReply(ErrorReply):
    """An error of a collection; `errors` has a text for each field."""

    context: dict[str, Any] | None
    errors: dict[str, str]
    collection: dict[str, Any] | None


class VersionErrorReply(ErrorReply):
    """An error of a refused version."""

    field: str | None
    errors: dict[str, str] | None
    version: dict[str, Any] | None
    collection: dict[str, Any] | None


class LinkErrorReply(ErrorReply):
    """An error of an endpoint that returns a link."""

    url: str | None


MODELS: list[tuple[Any, type[ErrorReply]]] = [
    (UPLOAD_ENVELOPE, UploadErrorReply),
    (COLLECTION_ENVELOPE, CollectionErrorReply),
    (VERSION_ENVELOPE, VersionErrorReply),
    (LINK_ENVELOPE, LinkErrorReply),
]


def error_model(endpoint: Endpoint) -> type[ErrorReply]:
    """Return the model of the endpoint's errors."""
    return next((model for envelope, model in MODELS if envelope == endpoint.envelope), ErrorReply)
