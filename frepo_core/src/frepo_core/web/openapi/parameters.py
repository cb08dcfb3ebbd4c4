"""The parameters of operations in the OpenAPI document: in the path, the query and the headers."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from ..routing.endpoint import Endpoint
from ..schemas import json_schemas
from ..schemas.request_headers import IDEMPOTENCY_KEY, IF_MATCH

# No text that comes in may hold U+0000; `validation.refuse_unstorable` sees to it.
STORABLE = "^[^\\u0000]*$"
_ID = {"type": "string", "format": "uuid", "pattern": json_schemas.UUID4}
_TEXT = {"type": "string", "minLength": 1, "pattern": r"^[^\u0000/]+$"}

PATH: Mapping[str, tuple[str, dict[str, Any]]] = {
    "token": ("The token's id, a UUIDv4 in any case.", {**_ID, "examples": [json_schemas.A_TOKEN]}),
    "collection": ("The collection's id.", {**_ID, "examples": [json_schemas.A_COLLECTION]}),
    "version": (
        "`latest` (or `recent`), `first`, `v<number>`, or the version's id.",
        {
            "type": "string",
            "pattern": f"^(latest|recent|first|v[1-9][0-9]{{0,17}}|{json_schemas.UUID4[1:-1]})$",
            "examples": ["latest"],
        },
    ),
    "name": (
        "The file's stored name, as the upload answered it, or an alias.",
        _TEXT | {"examples": ["2cf24dba5fhello.txt"]},
    ),
    "type": ("Any word: `file` and `image` are in use. It means nothing.", _TEXT | {"examples": ["file"]}),
    "accessToken": ("The hash that the service's template makes of this request.", _TEXT),
    "fileId": ("The file's stored name, or an alias.", _TEXT),
    "expirationTime": ("When the link ends: a Unix time.", {"type": "string", "pattern": "^[0-9]{1,18}$"}),
}
_NAMED = ("The file's name, as `fileName`.", json_schemas.FILE_NAME)
_DELETED: Mapping[str, tuple[str, dict[str, Any]]] = {
    "token": ("The token's id, a UUIDv4 in any case.", {**_ID, "examples": [json_schemas.A_REVOKED_TOKEN]}),
    "version": (
        "`v<number>`, or the version's id.",
        {"type": "string", "pattern": f"^(v[1-9][0-9]{{0,17}}|{json_schemas.UUID4[1:-1]})$", "examples": ["v2"]},
    ),
    "name": ("The file's stored name.", _TEXT | {"examples": ["486ea46224world.txt"]}),
}

_PASSWORD: tuple[str, str, dict[str, Any]] = (
    "X-File-Password",
    "The file's password, in place of `password` in the query.",
    {},
)
_CONDITIONS: list[tuple[str, str, dict[str, Any]]] = [
    ("Range", "Parts of the content, such as `bytes=0-99` or `bytes=-500`; what cannot be read is ignored.", {}),
    ("If-Range", "Serve the range only if this is the ETag, or the date, of the content.", {}),
    ("If-Match", "Answer only if this is the ETag.", {}),
    ("If-None-Match", "Answer 304 if this is the ETag.", {}),
    ("If-Modified-Since", "Answer 304 if the content is not newer.", {}),
    ("If-Unmodified-Since", "Answer only if the content is not newer.", {}),
]
_SHA256 = {"pattern": "^(sha-256=:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=:)?$"}
_DIGESTS: list[tuple[str, str, dict[str, Any]]] = [
    ("Repr-Digest", "SHA-256 of the content (RFC 9530): anything else is not stored.", _SHA256),
    ("Content-Digest", "The same as Repr-Digest.", _SHA256),
    ("Content-MD5", "MD5 of the content in base64 (RFC 1864).", {"pattern": "^([A-Za-z0-9+/]{21}[AQgw]==)?$"}),
]
_OFFERED: Mapping[str, tuple[str, dict[str, Any]]] = {
    IDEMPOTENCY_KEY: (
        "A key of one's own choice. For 24 hours it gets the first answer again; with other content it is refused.",
        {"pattern": "^[!-~]{1,255}$"},
    ),
    IF_MATCH: (
        "`v<N>`: add the version only if the last one is number N, `v0` for none; otherwise 412 (4015).",
        {"pattern": '^(v[0-9]{1,18}|"v[0-9]{1,18}")$'},
    ),
}


def parameters_of(endpoint: Endpoint) -> list[dict[str, Any]]:
    """Return the parameters of an endpoint."""
    return [*_in_path(endpoint), *_in_query(endpoint), *_in_headers(endpoint)]


def open_path(path: str) -> str:
    """Return a route's pattern as OpenAPI writes it: `{name:regex}` is `{name}`."""
    return re.sub(r"{(\w+):[^}]*}", r"{\1}", path)


def _in_path(endpoint: Endpoint) -> Iterator[dict[str, Any]]:
    for name in re.findall(r"{(\w+)}", open_path(endpoint.path)):
        description, schema = PATH.get(name, (f"The {name}.", _TEXT))
        if name == "name" and endpoint.content:
            description, schema = _NAMED
        if endpoint.method == "DELETE" and endpoint.name != "disallow_token":  # that one deletes no token
            description, schema = _DELETED.get(name, (description, schema))
        yield {"name": name, "in": "path", "required": True, "description": description, "schema": schema}


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
    """Return what the query may hold; a file name in the path leaves none to say."""
    assert endpoint.query is not None
    fields = input_schema(endpoint.query)["properties"].items()
    return [
        (name, _described(name, field))
        for name, field in fields
        if not (name == "fileName" and "{name}" in endpoint.path)
    ]


def _described(name: str, field: dict[str, Any]) -> dict[str, Any]:
    """Say what a field means; what its type says of itself comes after that."""
    own = field.get("description", "")
    if name not in DESCRIPTIONS or (own and own not in _OF_TYPES):
        return field
    return field | {"description": f"{DESCRIPTIONS[name]} {own}".strip()}


def _in_headers(endpoint: Endpoint) -> Iterator[dict[str, Any]]:
    headers: list[tuple[str, str, dict[str, Any]]] = _DIGESTS if endpoint.content else []
    if 206 in endpoint.answers:
        headers = _CONDITIONS
    if endpoint.method == "GET" and endpoint.query and "password" in endpoint.query.model_fields and endpoint.answers:
        headers = [*headers, *([_PASSWORD] if {206, 302} & set(endpoint.answers) else [])]
    for name, description, more in [*headers, *((name, *_OFFERED[name]) for name in endpoint.headers)]:
        schema = {"type": "string", **more}
        yield {"name": name, "in": "header", "required": False, "description": description, "schema": schema}


def input_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of what arrives as texts, a query or a form: no null, no titles, and no U+0000."""
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
    """Return the schema with its texts kept to what can be stored."""
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
    "description": "The content as the part `file`. The parameters of the query can be fields of the form, too, "
    "under the same names; such a field wins over the query.",
    "properties": {"file": {"type": "string", "format": "binary", "minLength": 1, "description": "The content."}},
    "required": ["file"],
}

_OF_TYPES = {json_schemas.FLAG["description"], json_schemas.FILE_NAME["description"]}
DESCRIPTIONS: Mapping[str, str] = {
    "fileName": "The file's name.",
    "tags": "Tags; `tags=a` works for one.",
    "password": "The password that protects the file, up to 250 characters; in a listing, one that unmasks the files that "
    "it fits; a search finds those among the 1,000 newest matches that have a password.",
    "public": "Whether listings show the file. It does not lock the download.",
    "encoding": "`base64` where the content is sent so; a leading data-URL head is dropped.",
    "fileOverwrite": "With the role `security.overwrite`: replace the record's tags, public flag and password. "
    "Of several with this content it is the one with this name, else the oldest.",
    "sha256": "SHA-256 of the content in hex: anything else is not stored.",
    "simulate": "Check everything and answer the same, but change nothing.",
    "redirect": "false: answer the link as JSON in place of a redirect.",
    "expires": "From a signed link: when it ends.",
    "signature": "From a signed link.",
    "page": "Which page, from 1.",
    "limit": "How many in a page.",
    "searchQuery": "Part of the name in any case; `%` and `_` mean themselves. In collections `*` at the ends is ignored.",
    "mimes": "Types: any of these.",
    "createdFrom": "The first day, inclusive; an empty text is none.",
    "createdTo": "The last day, inclusive; an empty text is none.",
    "allowedTokens": "Collections that list any of these tokens.",
    "code": "What the setting HEALTH_CHECK_CODE says.",
}
