"""The answers of operations in the OpenAPI document: statuses, bodies, headers, and links to what can be asked next."""

from collections.abc import Mapping
from typing import Any

from ..routing.endpoint import Endpoint
from ..schemas.request_headers import IDEMPOTENCY_KEY, IF_MATCH
from .error_models import error_model

JSON = "application/json"
BINARY = {"type": "string", "format": "binary"}
Schemas = Mapping[Any, Any]

MEANINGS: Mapping[int, str] = {
    200: "Done",
    202: "Accepted and done",
    206: "The part of the content that was asked for. For several ranges the answer is 200, with the whole content",
    302: "The content is at another URL, which needs no token and is good for ten minutes",
    304: "The client has this content already",
    400: "The request is refused: `fields` or `errors` say which field or rule it is about",
    403: "No token, none that is good here, one without the role, or a wrong password: the body does not say which",
    404: "It does not exist",
    412: "The content is not the one that If-Match or If-Unmodified-Since name",
    416: "The range is not in the content",
    429: "This address has tried too many wrong passwords (4290)",
    422: "The Idempotency-Key came before with other content (4016)",
    500: "The service failed; `error_id` finds the reason in its log",
    503: "The service is read-only, or its database or storage does not answer now",
    507: "The storage, or the disk for temporary files, is full",
}
_PLACES: Mapping[str, str] = {
    "upload_file": "A new file is stored",
    "upload_named_file": "A new file is stored",
    "add_file_by_url": "A new file is stored",
}
OVERTAKEN = "The last version is not the one that If-Match names (4015): `context` has its number as `last_version`"
FOLLOWED = "The content, after the redirect was followed; with `redirect=false` the link to it, as JSON"
KNOWN_CONTENT = "The content was known: these are the URL, id and name of the file that was there"


def _header(description: str, pattern: str | None = None, *, required: bool = True) -> dict[str, Any]:
    schema = {"type": "string"} | ({"pattern": pattern} if pattern else {})
    return {"description": description, "required": required, "schema": schema}


DIGEST = {"Repr-Digest": _header("SHA-256 of the whole content (RFC 9530)", "^sha-256=:[A-Za-z0-9+/]{43}=:$")}
VALIDATORS = {
    "ETag": _header("The content's SHA-256, a strong validator", '^"[0-9a-f]{64}"$'),
    "Last-Modified": _header("When the file was stored"),
    "Cache-Control": _header("Open files may be cached for long, protected ones and versions nowhere"),
}
CONTENT = {
    **DIGEST,
    **VALIDATORS,
    "Accept-Ranges": _header("Ranges of bytes can be asked for", "^bytes$"),
    "Content-Disposition": _header("The name that the file was sent under, and whether to show it or to save it"),
    "X-Content-Type-Options": _header("The type was found by looking at the content", "^nosniff$"),
}
HEADERS: Mapping[int, dict[str, Any]] = {
    200: CONTENT,
    206: {
        **CONTENT,
        "Content-Range": _header("Which bytes of how many, where it is one range", "^bytes [0-9]+-[0-9]+/[0-9]+$")
        | {"required": False},
    },
    302: {"Location": _header("The link"), "Cache-Control": _header("A signed link must not be stored")},
    304: VALIDATORS,
}
ERROR_HEADERS: Mapping[int, dict[str, Any]] = {
    416: {"Content-Range": _header("How long the content is", r"^bytes \*/[0-9]+$")},
    429: {"Retry-After": _header("Seconds after which the address may try again", "^[0-9]+$")},
    503: {"Retry-After": _header("Seconds after which trying again makes sense", "^[0-9]+$", required=False)},
}

_OF_COLLECTION = {"collection": "$response.body#/collection/id"}
_SAME_COLLECTION = {"collection": "$request.path.collection"}
_OF_FILE = {"name": "$response.body#/filename"}
_OF_TOKEN = {"token": "$response.body#/tokenId"}  # where the token is, not one
_OF_VERSION = _SAME_COLLECTION | {"version": "$response.body#/version/id"}
_LINKS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "generate_token": {"look_up_token": _OF_TOKEN, "revoke_token": _OF_TOKEN},
    "upload_file": {"download_file": _OF_FILE, "delete_file": _OF_FILE},
    "upload_named_file": {"download_public_file": _OF_FILE, "delete_file": _OF_FILE},
    "create_collection": {
        "fetch_collection": _OF_COLLECTION,
        "add_backup": _OF_COLLECTION,
        "list_backups": _OF_COLLECTION,
        "delete_collection": _OF_COLLECTION,
    },
    "add_backup": {"fetch_backup": _OF_VERSION, "delete_backup": _OF_VERSION, "list_backups": _SAME_COLLECTION},
    "add_version": {"fetch_version": _OF_VERSION, "delete_version": _OF_VERSION, "list_versions": _SAME_COLLECTION},
}


def responses_of(endpoint: Endpoint, schemas: Schemas) -> dict[str, Any]:
    """Return all answers of an endpoint; `schemas` gives the references of models."""
    responses = {status: _success(endpoint, status, schemas) for status in endpoint.answers}
    for status in error_statuses(endpoint):
        if status not in responses:
            responses[status] = _error(endpoint, status, schemas)
        elif status >= 400:
            _add_error(responses[status], endpoint, schemas)
    return {str(status): responses[status] for status in sorted(responses)}


def error_statuses(endpoint: Endpoint) -> list[int]:
    """Return the statuses that this endpoint's errors can have."""
    statuses = [400, 403, 500, 503]
    if "{" in endpoint.path:
        statuses.append(404)
    if 206 in endpoint.answers:
        statuses += [412, 416]
    if endpoint.query and not endpoint.content and "password" in endpoint.query.model_fields:
        statuses.append(429)
    if IDEMPOTENCY_KEY in endpoint.headers:
        statuses.append(422)
    if IF_MATCH in endpoint.headers:
        statuses.append(412)
    if endpoint.content or endpoint.writes:
        statuses.append(507)
    return sorted(statuses)


def _success(endpoint: Endpoint, status: int, schemas: Schemas) -> dict[str, Any]:
    model = endpoint.answers[status]
    description = _PLACES.get(endpoint.name, MEANINGS[status])
    answer: dict[str, Any] = {
        "description": KNOWN_CONTENT if status == 202 and endpoint.name in _PLACES else description
    }
    if model:
        answer["content"] = {JSON: {"schema": schemas[(model, "serialization")]}}
        if status == 200 and 302 in endpoint.answers:  # what a client gets that follows the redirect
            answer["description"] = FOLLOWED
            answer["content"] = {endpoint.media: {"schema": BINARY}, **answer["content"]}
    elif status in {200, 206}:
        answer["content"] = {endpoint.media: {"schema": BINARY}}
    if model is None and endpoint.media == "*/*":
        answer["headers"] = HEADERS[status]
    elif endpoint.content or endpoint.name in _PLACES:
        answer["headers"] = DIGEST
    if status < 300 and endpoint.name in _LINKS:
        links = _LINKS[endpoint.name]
        answer["links"] = {name: {"operationId": name, "parameters": dict(to)} for name, to in links.items()}
    return answer


def _error(endpoint: Endpoint, status: int, schemas: Schemas) -> dict[str, Any]:
    schema = schemas[(error_model(endpoint), "validation")]
    meaning = OVERTAKEN if status == 412 and IF_MATCH in endpoint.headers else MEANINGS[status]
    answer: dict[str, Any] = {"description": meaning, "content": {JSON: {"schema": schema}}}
    if status in ERROR_HEADERS:
        answer["headers"] = ERROR_HEADERS[status]
    return answer


def _add_error(answer: dict[str, Any], endpoint: Endpoint, schemas: Schemas) -> None:
    """Say that a status that the endpoint answers itself can be an error, too."""
    media = answer["content"][JSON]
    media["schema"] = {"anyOf": [media["schema"], schemas[(error_model(endpoint), "validation")]]}
