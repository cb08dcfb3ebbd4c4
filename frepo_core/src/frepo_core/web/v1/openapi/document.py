"""Builds the OpenAPI 3.1 document of the second API from the declarations of its endpoints."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from ...base.endpoint import Endpoint
from ...conventions import merge_patch
from ...conventions.problems import Problem
from ...openapi.document import model_name, referenced_names
from ...openapi.named_schemas import PREFIX, name_schemas
from ...openapi.operation import describe_operation
from ...openapi.parameters import CONTENT_FORM, open_path, storable
from ...openapi.responses import BINARY
from .parameters import parameters_of
from .responses import JSON, responses_of

SECURITY: list[dict[str, list[str]]] = [{"bearer": []}, {"header": []}]
SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "`Authorization: Bearer <the token>`."},
    "header": {"type": "apiKey", "in": "header", "name": "X-Auth-Token", "description": "The token."},
}
_HEALTH = ("Health", "What the health checks found, and which stored contents are damaged.")
_INSTALLATION = ("Installation", "What is installed, and the settings in force.")
# The tag of a path is that of its last part with an entry here.
TAGS: Mapping[str, tuple[str, str]] = {
    "": ("Service", "The service itself."),
    "collections": ("Collections", "Places for the versions of one backup, with limits and a list of tokens."),
    "access": ("Access", "Which tokens may use a collection."),
    "versions": ("Versions", "Numbered versions of a collection, their content and their checks."),
    "files": ("Files", "Plain files: upload, list, download, delete."),
    "tokens": ("Tokens", "Access tokens: roles, restrictions, expiry, rotation."),
    "events": ("Audit", "What happened: who did what, when and from where."),
    "jobs": ("Jobs", "Periodic work: schedules and runs."),
    "health": _HEALTH,
    "damage": _HEALTH,
    "storages": _INSTALLATION,
    "plugins": _INSTALLATION,
    "settings": _INSTALLATION,
    "aliases": ("Aliases", "Further names of files."),
}


def build_v1_document(endpoints: Sequence[Endpoint], server: str) -> dict[str, Any]:
    """Return the document; `server` is the URL of this service."""
    schemas, definitions = _schemas(endpoints)
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        paths.setdefault(open_path(endpoint.path), {})[endpoint.method.lower()] = _operation(endpoint, schemas)
    used = {tag_of(endpoint) for endpoint in endpoints}
    guide = files(__package__).joinpath("guide.md").read_text(encoding="utf-8")
    return name_schemas(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "frepo, API v1",
                "version": version("frepo-core"),
                "summary": "Stores files and keeps versioned backups, controlled by access tokens alone.",
                "description": guide,
            },
            "servers": [{"url": server}],
            "tags": [{"name": name, "description": text} for name, text in dict(TAGS.values()).items() if name in used],
            "paths": paths,
            "components": {"schemas": definitions, "securitySchemes": SCHEMES},
        }
    )


def tag_of(endpoint: Endpoint) -> str:
    """Return the tag that groups the endpoint in the document."""
    known = [TAGS[part][0] for part in endpoint.path.split("/") if part in TAGS]
    return known[-1]


def _schemas(endpoints: Sequence[Endpoint]) -> tuple[Mapping[Any, Any], dict[str, Any]]:
    """Return a reference for each model, and the definitions of all references."""
    bodies = {endpoint.body for endpoint in endpoints if endpoint.body}
    replies = {model for endpoint in endpoints for model in endpoint.answers.values() if model}
    inputs: set[type[BaseModel]] = bodies | {Problem}
    models: list[Any] = [(model, "validation") for model in sorted(inputs, key=model_name)]
    models += [(model, "serialization") for model in sorted(replies, key=model_name)]
    references, document = models_json_schema(models, ref_template=f"{PREFIX}{{model}}")
    definitions = document.get("$defs", {})
    for name in referenced_names({references[(body, "validation")]["$ref"] for body in bodies}, definitions):
        definitions[name] = storable(definitions[name])
    if any(endpoint.content for endpoint in endpoints):
        definitions |= {"ContentForm": CONTENT_FORM, "Content": {**BINARY, "minLength": 1}}
    return references, definitions


def _operation(endpoint: Endpoint, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    operation = describe_operation(
        endpoint,
        schemas,
        tag=tag_of(endpoint),
        parameters=parameters_of(endpoint),
        responses=responses_of(endpoint, schemas),
        security=SECURITY,
        media=merge_patch.MEDIA if endpoint.method == "PATCH" else JSON,
    )
    if endpoint.body and not any(field.is_required() for field in endpoint.body.model_fields.values()):
        operation["requestBody"]["required"] = False
    return operation
