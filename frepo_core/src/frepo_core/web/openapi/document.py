"""Builds the OpenAPI 3.1 document from the declarations of the endpoints."""

from collections.abc import Iterable, Mapping
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from ..base.endpoint import Endpoint
from .error_models import ErrorReply, error_model
from .named_schemas import name_schemas
from .operation import describe_operation
from .parameters import CONTENT_FORM, open_path, parameters_of, storable
from .responses import BINARY, JSON, responses_of

SECURITY: list[dict[str, list[str]]] = [{"header": []}, {"bearer": []}, {"query": []}]
SCHEMES = {
    "header": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Auth-Token",
        "description": "The token's id; the header `token` is read as well.",
    },
    "bearer": {"type": "http", "scheme": "bearer", "description": "`Authorization: Bearer <the token's id>`."},
    "query": {
        "type": "apiKey",
        "in": "query",
        "name": "_token",
        "description": "The token's id. It wins over the headers, even when it is empty.",
    },
}
TAGS = {
    "Files": "Plain files: upload, list, download, delete.",
    "Collections": "Places for the versions of one backup, with limits and a list of tokens.",
    "Versions": "Numbered versions in a collection. `backup` and `version` in these paths are the same.",
    "Tokens": "Access tokens: their roles, restrictions and expiry.",
    "Service": "The service itself.",
    "Plug-ins": "What the plug-ins of this service add.",
}


def build_document(endpoints: Iterable[Endpoint], server: str) -> dict[str, Any]:
    """Return the document; `server` is the URL of this service."""
    shown = list(endpoints)
    schemas, definitions = _schemas(shown)
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in shown:
        paths.setdefault(open_path(endpoint.path), {})[endpoint.method.lower()] = _operation(endpoint, schemas)
    used = {tag_of(endpoint) for endpoint in shown}
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "frepo",
            "version": version("frepo-core"),
            "summary": "Stores files and keeps versioned backups, controlled by access tokens alone.",
            "description": files(__package__).joinpath("guide.md").read_text(encoding="utf-8"),
        },
        "servers": [{"url": server}],
        "tags": [{"name": name, "description": text} for name, text in TAGS.items() if name in used],
        "paths": paths,
        "components": {"schemas": definitions, "securitySchemes": SCHEMES},
    }
    return name_schemas(document)


def _schemas(endpoints: list[Endpoint]) -> tuple[Mapping[Any, Any], dict[str, Any]]:
    """Return a reference for each model, and the definitions of all references."""
    bodies = {endpoint.body for endpoint in endpoints if endpoint.body}
    replies = {model for endpoint in endpoints for model in endpoint.answers.values() if model}
    # In the validation schema, keys with defaults are optional, as they are in errors.
    inputs = bodies | {ErrorReply} | {error_model(endpoint) for endpoint in endpoints}
    models: list[Any] = [(model, "validation") for model in sorted(inputs, key=model_name)]
    models += [(model, "serialization") for model in sorted(replies, key=model_name)]
    references, document = models_json_schema(models, ref_template="#/components/schemas/{model}")
    definitions = document.get("$defs", {})
    for name in referenced_names({references[(body, "validation")]["$ref"] for body in bodies}, definitions):
        definitions[name] = storable(definitions[name])
    if any(endpoint.content for endpoint in endpoints):
        definitions |= {"ContentForm": CONTENT_FORM, "Content": {**BINARY, "minLength": 1}}
    return references, definitions


def referenced_names(references: set[str], definitions: Mapping[str, Any]) -> set[str]:
    """Return the names of the referenced definitions, and of those that they refer to."""
    names = {reference.rpartition("/")[2] for reference in references}
    for name in list(names):
        inner = {found["$ref"] for found in definitions[name].get("properties", {}).values() if "$ref" in found}
        names |= referenced_names(inner, definitions)
    return names


def model_name(model: type[BaseModel]) -> str:
    """Return the name by which models are sorted."""
    return model.__name__


def _operation(endpoint: Endpoint, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    return describe_operation(
        endpoint,
        schemas,
        tag=tag_of(endpoint),
        parameters=parameters_of(endpoint),
        responses=responses_of(endpoint, schemas),
        security=SECURITY,
        media=JSON,
    )


def tag_of(endpoint: Endpoint) -> str:
    """Return the tag that groups the endpoint in the document."""
    path = endpoint.path
    if path.startswith("/repository/collection/{collection}/") and "/token" not in path:
        return "Versions"
    if path.startswith("/repository/collection"):
        return "Collections"
    if path.startswith(("/auth/token", "/auth/roles", "/jobs/token")):
        return "Tokens"
    if path in {"/", "/version", "/health", "/api/doc", "/api/doc.json", "/repository/routing/map"}:
        return "Service"
    return (
        "Files" if 206 in endpoint.answers or path.startswith("/repository/") or path == "/repository" else "Plug-ins"
    )
