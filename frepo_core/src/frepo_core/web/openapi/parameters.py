"""The parameters of operations in the OpenAPI document: in the path, the query and the headers."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from frepo_core.errors import VersionConflictError

from ..base.endpoint import Endpoint
from ..content.request_headers import IDEMPOTENCY_KEY, IF_MATCH
from ..schemas import json_schemas

# No text may contain U+0000; `schemas.validation` refuses it.
STORABLE = "^[^\\u0000]*$"
UUID = {"type": "string", "format": "uuid", "pattern": json_schemas.UUID4}
WORD = {"type": "string", "minLength": 1, "pattern": r"^[^\u0000/]+$"}

PATH: Mapping[str, tuple[str, dict[str, Any]]] = {
    "token": ("The token's id, a UUIDv4 in any case.", {**UUID, "examples": [json_schemas.A_TOKEN]}),
    "collection": ("The collection's id.", {**UUID, "examples": [json_schemas.A_COLLECTION]}),
    "version": (
        "`latest` (or `recent`), `first`, `good` (the newest good one), `v<number>`, or the version's id.",
        {
            "type": "string",
            "pattern": f"^(latest|recent|first|good|v[1-9][0-9]{{0,17}}|{json_schemas.UUID4[1:-1]})$",
            "examples": ["latest"],
        },
    ),
    "name": (
        "The file's stored name, as the upload returned it, or an alias.",
        WORD | {"examples": ["2cf24dba5fhello.txt"]},
    ),
    "type": ("Any word, such as `file` or `image`. It has no effect.", WORD | {"examples": ["file"]}),
    "accessToken": ("The hash of the service's template, filled with values of this request.", WORD),
    "fileId": ("The file's stored name, or an alias.", WORD),
    "expirationTime": ("When the link expires: a Unix time.", {"type": "string", "pattern": "^[0-9]{1,18}$"}),
}
_NAMED = ("The file's name, as `fileName`.", json_schemas.FILE_NAME)
_DELETED: Mapping[str, tuple[str, dict[str, Any]]] = {
    "token": ("The token's id, a UUIDv4 in any case.", {**UUID, "examples": [json_schemas.A_REVOKED_TOKEN]}),
    "version": (
        "`v<number>`, or the version's id.",
        {"type": "string", "pattern": f"^(v[1-9][0-9]{{0,17}}|{json_schemas.UUID4[1:-1]})$", "examples": ["v2"]},
    ),
    "name": ("The file's stored name.", WORD | {"examples": ["486ea46224world.txt"]}),
}

_PASSWORD: tuple[str, str, dict[str, Any]] = (
    "X-File-Password",
    "The file's password, instead of `password` in the query.",
    {},
)
CONDITIONS: list[tuple[str, str, dict[str, Any]]] = [
    ("Range", "Parts of the content, such as `bytes=0-99` or `bytes=-500`. An invalid range is ignored.", {}),
    ("If-Range", "Serve the range only if this is the ETag, or the date, of the content.", {}),
    ("If-Match", "Answer only if this is the ETag.", {}),
    ("If-None-Match", "Answer 304 if this is the ETag.", {}),
    ("If-Modified-Since", "Answer 304 if the content is not newer.", {}),
    ("If-Unmodified-Since", "Answer only if the content is not newer.", {}),
]
_SHA256 = {"pattern": "^(sha-256=:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=:)?$"}
DIGESTS: list[tuple[str, str, dict[str, Any]]] = [
    ("Repr-Digest", "SHA-256 of the content (RFC 9530). Other content is refused.", _SHA256),
    ("Content-Digest", "The same as Repr-Digest.", _SHA256),
    ("Content-MD5", "MD5 of the content in base64 (RFC 1864).", {"pattern": "^([A-Za-z0-9+/]{21}[AQgw]==)?$"}),
]
_IF_MATCH = (
    "`v<N>`: add the version only if the last one is number N (`v0`: none); otherwise 412 "
    f"({VersionConflictError.number})."
)
IDEMPOTENCY = (
    "A key of your choice. For 14 days, the same key returns the first answer again; other content is refused.",
    {"pattern": "^[!-~]{1,255}$"},
)
LAST_VERSION = {"pattern": '^(v[0-9]{1,18}|"v[0-9]{1,18}")$'}
_OFFERED: Mapping[str, tuple[str, dict[str, Any]]] = {IDEMPOTENCY_KEY: IDEMPOTENCY, IF_MATCH: (_IF_MATCH, LAST_VERSION)}


def parameters_of(endpoint: Endpoint) -> list[dict[str, Any]]:
    """Return the parameters of an endpoint."""
    named = {"name": _NAMED} if endpoint.content else {}
    is_deletion = endpoint.method == "DELETE" and endpoint.name != "disallow_token"  # it does not delete the token
    known = {**PATH, **named, **(_DELETED if is_deletion else {})}
    return [*in_path(endpoint, known), *_in_query(endpoint), *_in_headers(endpoint)]


def open_path(path: str) -> str:
    """Return a route's pattern in OpenAPI's syntax: `{name:regex}` becomes `{name}`."""
    return re.sub(r"{(\w+):[^}]*}", r"{\1}", path)


def in_path(endpoint: Endpoint, known: Mapping[str, tuple[str, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """Yield the parameters of the path (OpenAPI 3.1, 4.8.12), with what is known of their names."""
    for name in re.findall(r"{(\w+)}", open_path(endpoint.path)):
        description, schema = known.get(name, (f"The {name}.", WORD))
        if own := endpoint.parameters.get(name):
            description, schema = (own, WORD) if isinstance(own, str) else (own[0], WORD | {"pattern": own[1]})
        yield {"name": name, "in": "path", "required": True, "description": description, "schema": schema}


def in_header(name: str, description: str, more: dict[str, Any]) -> dict[str, Any]:
    """Return an optional header; `more` is what its schema has besides the type."""
    schema = {"type": "string", **more}
    return {"name": name, "in": "header", "required": False, "description": description, "schema": schema}


def _in_query(endpoint: Endpoint) -> Iterator[dict[str, Any]]:
    if endpoint.query is None:
        return
    for name, field in _fields(endpoint):
        wire_name = f"{name}[]" if field.get("type") == "array" else name
        yield {
            "name": wire_name,
            "in": "query",
            "required": False,
            "description": field.get("description", name),
            "schema": {key: value for key, value in field.items() if key != "description"},
        }


def _fields(endpoint: Endpoint) -> list[tuple[str, dict[str, Any]]]:
    """Return the parameters of the query, without the file name if it is in the path."""
    assert endpoint.query is not None
    fields = input_schema(endpoint.query)["properties"].items()
    return [
        (name, _described(name, field))
        for name, field in fields
        if not (name == "fileName" and "{name}" in endpoint.path)
    ]


def _described(name: str, field: dict[str, Any]) -> dict[str, Any]:
    """Add the meaning of a field before the description of its type."""
    own = field.get("description", "")
    if name not in DESCRIPTIONS or (own and own not in _OF_TYPES):
        return field
    return field | {"description": f"{DESCRIPTIONS[name]} {own}".strip()}


def _in_headers(endpoint: Endpoint) -> Iterator[dict[str, Any]]:
    headers: list[tuple[str, str, dict[str, Any]]] = DIGESTS if endpoint.content else []
    if 206 in endpoint.answers:
        headers = CONDITIONS
    if endpoint.method == "GET" and endpoint.query and "password" in endpoint.query.model_fields and endpoint.answers:
        headers = [*headers, *([_PASSWORD] if {206, 302} & set(endpoint.answers) else [])]
    for name, description, more in [*headers, *((name, *_OFFERED.get(name, (name, {}))) for name in endpoint.headers)]:
        yield in_header(name, description, more)


def input_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a query or a form, whose values are texts: without null, titles and U+0000."""
    schema = model.model_json_schema()
    schema["properties"] = {name: storable(_without_null(field)) for name, field in schema["properties"].items()}
    return schema


def _without_null(field: dict[str, Any]) -> dict[str, Any]:
    bare = {key: value for key, value in field.items() if key not in {"title", "anyOf", "default"}}
    if field.get("default") is not None:
        bare["default"] = field["default"]
    options = [option for option in field.get("anyOf", []) if option != {"type": "null"}]
    if len(options) == 1:
        bare |= options[0]
        return bare
    if options:
        bare["anyOf"] = options
    return bare


def storable(schema: Any) -> Any:
    """Return the schema with a pattern that excludes U+0000 from texts."""
    if isinstance(schema, list):
        return [storable(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {
        key: storable(value) if key not in {"enum", "examples", "default"} else value for key, value in schema.items()
    }
    if found.get("type") == "string" and not {"pattern", "enum", "const", "format"} & found.keys():
        found["pattern"] = STORABLE
    return found


CONTENT_FORM: dict[str, Any] = {
    "type": "object",
    "description": "The content as the part `file`. Fields of the form with the names of query parameters "
    "have precedence over the query.",
    "properties": {"file": {"type": "string", "format": "binary", "minLength": 1, "description": "The content."}},
    "required": ["file"],
}

_OF_TYPES = {json_schemas.FLAG["description"], json_schemas.FILE_NAME["description"]}
DESCRIPTIONS: Mapping[str, str] = {
    "fileName": "The file's name.",
    "tags": "Tags; `tags=a` works for one.",
    "password": "The password that protects the file, up to 250 characters. In a listing, it unmasks the files "
    "that have it; a search finds those among the 1,000 newest protected matches.",
    "public": "Whether listings show the file. Downloads do not depend on it.",
    "encoding": "`base64` if the content is base64. A data-URL prefix is removed.",
    "fileOverwrite": "With the role `security.overwrite`: replace the record's tags, public flag and password. "
    "If several files have this content: the one with this name, else the oldest.",
    "sha256": "SHA-256 of the content in hex. Other content is refused.",
    "simulate": "Check everything and return the same answer, but change nothing.",
    "redirect": "false: return the link as JSON instead of a redirect.",
    "expires": "From a signed link: when it expires (Unix time).",
    "signature": "From a signed link.",
    "page": "The number of the page, from 1.",
    "limit": "Entries per page.",
    "searchQuery": "Part of the name in any case; `%` and `_` are literal. In collections, `*` at the ends is ignored.",
    "mimes": "Only files with one of these types.",
    "createdFrom": "The first day, inclusive; empty for no limit.",
    "createdTo": "The last day, inclusive; empty for no limit.",
    "allowedTokens": "Only collections that list one of these tokens.",
    "code": "The value of the setting HEALTH_CHECK_CODE.",
}
