"""The answers of operations in the OpenAPI document: statuses, bodies, headers, and links to next operations."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from frepo_core.errors import IdempotencyConflictError, TooManyAttemptsError, VersionConflictError

from ..base.endpoint import Endpoint
from ..content.request_headers import IDEMPOTENCY_KEY, IF_MATCH
from .error_models import ErrorReply, error_model

JSON = "application/json"
BINARY = {"type": "string", "format": "binary"}
Schemas = Mapping[Any, Any]

MEANINGS: Mapping[int, str] = {
    200: "Done",
    202: "Accepted and done",
    206: "The requested part of the content. For several ranges the answer is 200, with the whole content",
    302: "The content is at another URL, which needs no token and is valid for ten minutes",
    304: "The client has this content already",
    400: "The request is refused: `fields` or `errors` name the field or the rule",
    403: "No token, an invalid one, one without the role, or a wrong password. The body does not say which",
    404: "It does not exist",
    412: "If-Match or If-Unmodified-Since does not match the content",
    416: "The range is not in the content",
    429: f"This address has tried too many wrong passwords ({TooManyAttemptsError.number})",
    422: f"The Idempotency-Key was used before with other content ({IdempotencyConflictError.number})",
    431: "The URL or the headers are too long: at most 8 KiB for a line and 32 KiB in all",
    500: "The service failed; the service's log has the reason under `error_id`",
    503: "The service is read-only, or its database or storage does not answer",
    507: "The storage, or the disk for temporary files, is full",
}
_NEW_FILE: Mapping[str, str] = {
    "upload_file": "A new file is stored",
    "upload_named_file": "A new file is stored",
    "add_file_by_url": "A new file is stored",
}
VERSION_CONFLICT = (
    f"The last version is not the one in If-Match ({VersionConflictError.number}): `last_version` in `context` is its "
    "number"
)
AFTER_REDIRECT = "The content, if the client follows the redirect; with `redirect=false` the link as JSON"
KNOWN_CONTENT = "The content was stored already: the URL, id and name of the existing file"


def _header(description: str, pattern: str | None = None, *, required: bool = True) -> dict[str, Any]:
    schema = {"type": "string"} | ({"pattern": pattern} if pattern else {})
    return {"description": description, "required": required, "schema": schema}


DIGEST = {"Repr-Digest": _header("SHA-256 of the whole content (RFC 9530)", "^sha-256=:[A-Za-z0-9+/]{43}=:$")}
VALIDATORS = {
    "ETag": _header("The content's SHA-256, a strong validator", '^"[0-9a-f]{64}"$'),
    "Last-Modified": _header("When the file was stored"),
    "Cache-Control": _header(
        "Open files may be cached for seven hours; protected files and versions must not be cached"
    ),
}
CONTENT = {
    **DIGEST,
    **VALIDATORS,
    "Accept-Ranges": _header("Byte ranges are supported", "^bytes$"),
    "Content-Disposition": _header("The file's requested name, and whether to show or to save it"),
    "X-Content-Type-Options": _header("The service has detected the type from the content", "^nosniff$"),
}
HEADERS: Mapping[int, dict[str, Any]] = {
    200: CONTENT,
    206: {
        **CONTENT,
        "Content-Range": _header("The range, and the size of the whole content", "^bytes [0-9]+-[0-9]+/[0-9]+$")
        | {"required": False},
    },
    302: {"Location": _header("The link"), "Cache-Control": _header("A signed link must not be stored")},
    304: VALIDATORS,
}
ERROR_HEADERS: Mapping[int, dict[str, Any]] = {
    416: {"Content-Range": _header("The size of the content", r"^bytes \*/[0-9]+$")},
    429: {"Retry-After": _header("Seconds until the address may try again", "^[0-9]+$")},
    503: {"Retry-After": _header("Seconds until the client should try again", "^[0-9]+$", required=False)},
}

_OF_COLLECTION = {"collection": "$response.body#/collection/id"}
_SAME_COLLECTION = {"collection": "$request.path.collection"}
_OF_FILE = {"name": "$response.body#/filename"}
_OF_TOKEN = {"token": "$response.body#/tokenId"}  # a JSON pointer, not a secret
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
    """Return all answers of an endpoint; `schemas` maps models to references."""
    own = {status: model for status, model in endpoint.answers.items() if status < 400 or model}
    responses = {status: _success(endpoint, status, schemas) for status in own}
    for status in error_statuses(endpoint) + [status for status in endpoint.answers if status not in own]:
        if status not in responses:
            responses[status] = _error(endpoint, status, schemas)
        elif status >= 400:
            _add_error(responses[status], endpoint, schemas)
    return {str(status): responses[status] for status in sorted(responses)}


def meaning_of(status: int, known: Mapping[int, str]) -> str:
    """Return what a status means; `known` are the meanings that an API has, plug-ins answer others."""
    if status in known:
        return known[status]
    return HTTPStatus(status).phrase if status in set(HTTPStatus) else f"The plug-in answers {status}"


def error_statuses(endpoint: Endpoint) -> list[int]:
    """Return the statuses of the endpoint's errors."""
    statuses = [400, 403, 431, 500, 503]
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
    description = _NEW_FILE.get(endpoint.name, meaning_of(status, MEANINGS))
    answer: dict[str, Any] = {
        "description": KNOWN_CONTENT if status == 202 and endpoint.name in _NEW_FILE else description
    }
    if model:
        answer["content"] = {JSON: {"schema": schemas[(model, "serialization")]}}
        if status == 200 and 302 in endpoint.answers:  # clients that follow the redirect get the content
            answer["description"] = AFTER_REDIRECT
            answer["content"] = {endpoint.media: {"schema": BINARY}, **answer["content"]}
    elif status in {200, 206}:
        answer["content"] = {endpoint.media: {"schema": BINARY}}
    if model is None and endpoint.media == "*/*":
        answer["headers"] = HEADERS.get(status, {})
    elif endpoint.content or endpoint.name in _NEW_FILE:
        answer["headers"] = DIGEST
    if status < 300 and endpoint.name in _LINKS:
        links = _LINKS[endpoint.name]
        answer["links"] = {name: {"operationId": name, "parameters": dict(to)} for name, to in links.items()}
    return answer


def _error(endpoint: Endpoint, status: int, schemas: Schemas) -> dict[str, Any]:
    # The server answers 431 before it knows the endpoint.
    schema = schemas[(ErrorReply if status == 431 else error_model(endpoint), "validation")]
    meaning = VERSION_CONFLICT if status == 412 and IF_MATCH in endpoint.headers else meaning_of(status, MEANINGS)
    answer: dict[str, Any] = {"description": meaning, "content": {JSON: {"schema": schema}}}
    if status in ERROR_HEADERS:
        answer["headers"] = ERROR_HEADERS[status]
    return answer


def _add_error(answer: dict[str, Any], endpoint: Endpoint, schemas: Schemas) -> None:
    """Add the error model to a status that the endpoint uses for its own answer, too."""
    media = answer["content"][JSON]
    media["schema"] = {"anyOf": [media["schema"], schemas[(error_model(endpoint), "validation")]]}
