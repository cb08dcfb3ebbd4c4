"""Builds the OpenAPI 3.1 document of an API from the declarations of its endpoints."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from frepo_core.domain.structs import struct

from ..base.endpoint import Endpoint
from ..schemas import json_schemas
from .parameters import CONTENT_FORM, open_path, storable
from .responses import BINARY, Schemas

# The group of what plug-ins add.
PLUGINS = ("Plug-ins", "What the plug-ins of this service add.")
# openapi-generator uses the first type. With the raw body first, its TypeScript has no model of the form.
_CONTENT = {"multipart/form-data": "ContentForm", "application/octet-stream": "Content"}


PREFIX = "#/components/schemas/"
NULL = {"type": "null"}
# Types of fields and parameters that occur in many places. They are recognized by their `anyOf`.
NAMED: Mapping[str, dict[str, Any]] = {
    "Flag": json_schemas.FLAG,
    "Size": json_schemas.SIZE,
    "Count": json_schemas.COUNT,
    "Percent": json_schemas.PERCENT,
    "Day": json_schemas.DAY,
    "Network": json_schemas.NETWORK,
}
_VALUES = frozenset({"enum", "examples", "default", "const"})


def name_schemas(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with named schemas, and with `["string", "null"]` instead of two alternatives."""
    found: dict[str, Any] = _rewritten(document)
    definitions = found["components"]["schemas"]
    for name, media in _bodies(found):
        if "$ref" not in media["schema"]:
            definitions[name] = media["schema"]
            media["schema"] = {"$ref": PREFIX + name}
    used = set(_references(found))
    definitions |= {name: schema for name, schema in NAMED.items() if name in used}
    return found


def _rewritten(part: Any) -> Any:
    if isinstance(part, list):
        return [_rewritten(each) for each in part]
    if not isinstance(part, dict):
        return part
    schema = {key: value if key in _VALUES else _rewritten(value) for key, value in part.items()}
    if "properties" in schema:
        schema["properties"] = {name: _never_null_alone(field) for name, field in schema["properties"].items()}
    return _with_type_list(_with_reference(schema))


def _never_null_alone(field: Any) -> Any:
    return field | {"type": ["string", "null"]} if isinstance(field, dict) and field.get("type") == "null" else field


def _with_reference(schema: dict[str, Any]) -> dict[str, Any]:
    """Replace the schema by a reference if it has a name. Its own description is kept."""
    name = next((name for name, named in NAMED.items() if named["anyOf"] == schema.get("anyOf")), None)
    if name is None:
        return schema
    kept = {key: value for key, value in schema.items() if key in {"description", "default"}}
    if kept.get("description") == NAMED[name].get("description"):
        kept.pop("description", None)
    return {"$ref": PREFIX + name, **kept}


def _with_type_list(schema: dict[str, Any]) -> dict[str, Any]:
    """Replace `anyOf` of one type and null by a list of types."""
    options = schema.get("anyOf", [])
    others = [option for option in options if option != NULL]
    if NULL not in options or len(others) != 1 or not isinstance(others[0].get("type"), str):
        return schema
    other: dict[str, Any] = others[0]
    merged = other | {key: value for key, value in schema.items() if key != "anyOf"}
    merged["type"] = [other["type"], "null"]
    if "enum" in other:
        merged["enum"] = [*other["enum"], None]
    return merged


def _bodies(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each body of a request or an answer, with a name for its schema."""
    for operations in document["paths"].values():
        for operation in operations.values():
            name = "".join(word.capitalize() for word in operation["operationId"].split("_"))
            for media in operation.get("requestBody", {}).get("content", {}).values():
                yield f"{name}Body", media
            for status, answer in operation["responses"].items():
                for kind, media in answer.get("content", {}).items():
                    if kind == "application/json":  # other types are files and pages
                        yield f"{name}{status}", media


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, list):
        for each in part:
            yield from _references(each)
    elif isinstance(part, dict):
        if isinstance(reference := part.get("$ref"), str):
            yield reference.removeprefix(PREFIX)
        for value in part.values():
            yield from _references(value)


@struct
class Api:
    """What the documents of the two APIs do not share.

    - `guide`: the description of the API in Markdown.
    - `tags`: the groups of endpoints with their descriptions; `tag_of` returns the group of one.
    - `error_models`: returns the models of the errors of these endpoints.
    - `body_type`: returns the media type of an endpoint's body.
    - `has_optional_bodies`: whether a body without required fields may be left out.
    """

    title: str
    guide: str
    security: Sequence[Mapping[str, list[str]]]
    schemes: Mapping[str, Any]
    tags: Mapping[str, str]
    tag_of: Callable[[Endpoint], str]
    error_models: Callable[[Sequence[Endpoint]], Collection[type[BaseModel]]]
    parameters_of: Callable[[Endpoint], list[dict[str, Any]]]
    responses_of: Callable[[Endpoint, Schemas], dict[str, Any]]
    body_type: Callable[[Endpoint], str]
    has_optional_bodies: bool


def build_document(endpoints: Sequence[Endpoint], server: str, api: Api) -> dict[str, Any]:
    """Return the document; `server` is the URL of this service."""
    schemas, definitions = _schemas(endpoints, api)
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        paths.setdefault(open_path(endpoint.path), {})[endpoint.method.lower()] = _operation(endpoint, schemas, api)
    used = {api.tag_of(endpoint) for endpoint in endpoints}
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": api.title,
            "version": version("frepo-core"),
            "summary": "Stores files and keeps versioned backups, controlled by access tokens alone.",
            "description": api.guide,
        },
        "servers": [{"url": server}],
        "tags": [{"name": name, "description": text} for name, text in api.tags.items() if name in used],
        "paths": paths,
        "components": {"schemas": definitions, "securitySchemes": api.schemes},
    }
    return name_schemas(document)


def _schemas(endpoints: Sequence[Endpoint], api: Api) -> tuple[Schemas, dict[str, Any]]:
    """Return a reference for each model, and the definitions of all references."""
    bodies = {endpoint.body for endpoint in endpoints if endpoint.body}
    replies = {model for endpoint in endpoints for model in endpoint.answers.values() if model}
    # In the validation schema, keys with defaults are optional, as they are in errors.
    inputs = bodies | {*api.error_models(endpoints)}
    models: list[Any] = [(model, "validation") for model in sorted(inputs, key=_name)]
    models += [(model, "serialization") for model in sorted(replies, key=_name)]
    references, document = models_json_schema(models, ref_template=f"{PREFIX}{{model}}")
    definitions = document.get("$defs", {})
    for name in _referenced_names({references[(body, "validation")]["$ref"] for body in bodies}, definitions):
        definitions[name] = storable(definitions[name])
    if any(endpoint.content for endpoint in endpoints):
        definitions |= {"ContentForm": CONTENT_FORM, "Content": {**BINARY, "minLength": 1}}
    return references, definitions


def _referenced_names(references: set[str], definitions: Mapping[str, Any]) -> set[str]:
    """Return the names of the referenced definitions, and of those that they refer to."""
    names = {reference.rpartition("/")[2] for reference in references}
    for name in list(names):
        inner = {found["$ref"] for found in definitions[name].get("properties", {}).values() if "$ref" in found}
        names |= _referenced_names(inner, definitions)
    return names


def _name(model: type[BaseModel]) -> str:
    return model.__name__


def _operation(endpoint: Endpoint, schemas: Schemas, api: Api) -> dict[str, Any]:
    """Return the operation object (OpenAPI 3.1, 4.8.10)."""
    operation: dict[str, Any] = {
        "operationId": endpoint.name,
        "tags": [api.tag_of(endpoint)],
        "summary": endpoint.summary,
        "description": endpoint.view.__doc__ or endpoint.summary,
        "parameters": api.parameters_of(endpoint),
        "responses": api.responses_of(endpoint, schemas),
        "security": api.security if endpoint.permission else [{}, *api.security],
    }
    if endpoint.body:
        is_required = any(field.is_required() for field in endpoint.body.model_fields.values())
        content = {api.body_type(endpoint): {"schema": schemas[(endpoint.body, "validation")]}}
        operation["requestBody"] = {"required": is_required or not api.has_optional_bodies, "content": content}
    if endpoint.content:
        bodies = {media: {"schema": {"$ref": PREFIX + name}} for media, name in _CONTENT.items()}
        operation["requestBody"] = {"required": True, "content": bodies}
    if endpoint.body_sink:
        operation["requestBody"] = {"required": False, "content": {"application/octet-stream": {"schema": BINARY}}}
    return operation
