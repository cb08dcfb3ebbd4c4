"""The description of one endpoint in an OpenAPI document."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..base.endpoint import Endpoint
from .named_schemas import PREFIX

# openapi-generator uses the first type. With the raw body first, its TypeScript has no model of the form.
_CONTENT = {"multipart/form-data": "ContentForm", "application/octet-stream": "Content"}


def describe_operation(
    endpoint: Endpoint,
    schemas: Mapping[Any, Any],
    *,
    tag: str,
    parameters: Sequence[Any],
    responses: Mapping[str, Any],
    security: Sequence[Mapping[str, Any]],
    media: str,
) -> dict[str, Any]:
    """Return the operation object (OpenAPI 3.1, 4.8.10). `media` is the type of the body if it has a model."""
    operation: dict[str, Any] = {
        "operationId": endpoint.name,
        "tags": [tag],
        "summary": endpoint.summary,
        "description": endpoint.view.__doc__ or endpoint.summary,
        "parameters": parameters,
        "responses": responses,
        "security": security if endpoint.permission else [{}, *security],
    }
    if endpoint.body:
        schema = schemas[(endpoint.body, "validation")]
        operation["requestBody"] = {"required": True, "content": {media: {"schema": schema}}}
    if endpoint.content:
        bodies = {media: {"schema": {"$ref": PREFIX + name}} for media, name in _CONTENT.items()}
        operation["requestBody"] = {"required": True, "content": bodies}
    return operation
