"""The parameters of operations in the document of the second API: in the path, the query and the headers."""

from collections.abc import Iterator, Mapping
from typing import Any

from frepo_core.web.base.endpoint import Endpoint
from frepo_core.web.content.request_headers import CONTENT_ENCODING, IDEMPOTENCY_KEY, IF_MATCH
from frepo_core.web.openapi.parameters import (
    CONDITIONS,
    DIGESTS,
    IDEMPOTENCY,
    LAST_VERSION,
    STORABLE,
    UUID,
    WORD,
    in_header,
    in_path,
    input_schema,
)
from frepo_core.web.schemas import json_schemas

_SELECTOR = (
    "^(latest|recent|first|good|v[1-9][0-9]{0,17}|[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])"
    f"(T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z)?|{json_schemas.UUID4[1:-1]})$"
)
# The parameters in paths. A module with a new one adds it here.
PATH: Mapping[str, tuple[str, dict[str, Any]]] = {
    "collection": ("The collection's id.", {**UUID, "examples": [json_schemas.A_COLLECTION]}),
    "selector": (
        (
            "`latest` (or `recent`), `first`, `good` (the newest good one), `v<number>`, the version's id, or "
            "a time: the newest version at or before it."
        ),
        {"type": "string", "pattern": _SELECTOR, "examples": ["latest"]},
    ),
    "deleted": (
        "The id of the deleted collection, or its `incarnation` if several had this id.",
        {**UUID, "examples": [json_schemas.A_COLLECTION]},
    ),
    "subject": (
        "The id of the collection, or `all`.",
        {"type": "string", "pattern": f"^(all|{json_schemas.UUID4[1:-1]})$", "examples": ["all"]},
    ),
    "code": ("The code of the badge.", {"type": "string", "pattern": "^[0-9a-f]{32}$"}),
    "enrolment": ("The id of the one-time code; not the code itself.", {**UUID}),
    "number": ("The number of the version.", {"type": "integer", "minimum": 1, "maximum": 10**18 - 1, "examples": [1]}),
    "fingerprint": (
        "The token's fingerprint.",
        {"type": "string", "pattern": json_schemas.FINGERPRINT, "examples": ["3f1c9a0b7d2e"]},
    ),
    "name": ("The file's stored name, as the upload returned it.", WORD | {"examples": ["2cf24dba5fhello.txt"]}),
}
_CODING = "How the body is compressed; the content is what it contains. `Repr-Digest` is of the content."
_OFFERED: Mapping[str, tuple[str, dict[str, Any]]] = {
    IDEMPOTENCY_KEY: IDEMPOTENCY,
    CONTENT_ENCODING: (_CODING, {"enum": ["gzip", "zstd", "identity"]}),
    IF_MATCH: ("Change the resource only if this is its ETag; otherwise 412.", {"pattern": '^("[!#-~]*"|\\*)$'}),
}
_IF_MATCH = "`v<N>`: add the version only if the last one is number N (`v0`: none); otherwise 412."
_MEANINGS = {"sort": "The field to order by; with `-` descending."}
_PASSWORD = ("X-File-Password", "The file's password.", {"pattern": STORABLE})


def parameters_of(endpoint: Endpoint) -> list[dict[str, Any]]:
    """Return the parameters of an endpoint."""
    return [*in_path(endpoint, PATH), *_in_query(endpoint), *_in_headers(endpoint)]


def _in_query(endpoint: Endpoint) -> Iterator[dict[str, Any]]:
    schema = input_schema(endpoint.query) if endpoint.query else {}
    required = schema.get("required", [])
    for name, field in _inlined(schema.get("properties", {}), schema.get("$defs", {})).items():
        yield {
            "name": name,
            "in": "query",
            "required": name in required,
            "description": field.get("description", _MEANINGS.get(name, name)),
            # An empty text as the default means that the parameter is left out.
            "schema": {key: value for key, value in field.items() if key != "description" and value != ""},
        }


def _inlined(part: Any, definitions: Mapping[str, Any]) -> Any:
    """Return a part of a schema with definitions, such as enumerations, in the place of references to them."""
    if isinstance(part, list):
        return [_inlined(each, definitions) for each in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        found = definitions[part["$ref"].rpartition("/")[2]]
        return _inlined(
            {key: value for key, value in found.items() if key not in {"title", "description"}}, definitions
        )
    return {key: _inlined(value, definitions) for key, value in part.items()}


def _in_headers(endpoint: Endpoint) -> Iterator[dict[str, Any]]:
    headers: list[tuple[str, str, dict[str, Any]]] = list(DIGESTS) if endpoint.content else []
    if 206 in endpoint.answers:
        headers = [*CONDITIONS, _PASSWORD]
    for name in endpoint.headers:
        is_of_version = endpoint.content and name == IF_MATCH
        offered = (_IF_MATCH, LAST_VERSION) if is_of_version else _OFFERED.get(name, (f"The header {name}.", {}))
        headers.append((name, *offered))
    for header in headers:
        yield in_header(*header)
