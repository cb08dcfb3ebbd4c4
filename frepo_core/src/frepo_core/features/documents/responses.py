"""The answers of operations in the document of the second API: statuses, bodies and headers."""

from collections.abc import Mapping
from typing import Any

from frepo_core.web.base.endpoint import Endpoint
from frepo_core.web.content.request_headers import IDEMPOTENCY_KEY, IF_MATCH
from frepo_core.web.conventions.problems import MEDIA, TITLES, Problem
from frepo_core.web.openapi.responses import BINARY, DIGEST, ERROR_HEADERS, HEADERS, meaning_of

JSON = "application/json"
MEANINGS: Mapping[int, str] = {
    200: "Done",
    201: "Created",
    202: "Accepted",
    204: "Deleted",
    206: "The requested part of the content. For several ranges the answer is 200, with the whole content",
    304: "The client has this content already",
}
_ETAG = {
    "ETag": {
        "description": "For If-Match. It follows what can be edited, not counters.",
        "required": True,
        "schema": {"type": "string"},
    }
}
_LOCATION = {
    "Location": {"description": "The new resource", "required": True, "schema": {"type": "string", "format": "uri"}}
}
_CHALLENGE = {
    "WWW-Authenticate": {
        "description": "How to authenticate (RFC 6750)",
        "required": True,
        "schema": {"type": "string", "pattern": "^Bearer"},
    }
}


def responses_of(endpoint: Endpoint, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    """Return all answers of an endpoint; `schemas` maps models to references."""
    own = {status: model for status, model in endpoint.answers.items() if status < 400 or model}
    responses = {status: _success(endpoint, status, schemas) for status in own}
    further = [status for status in endpoint.answers if status not in own]
    responses |= {status: _error(status, schemas) for status in error_statuses(endpoint) + further}
    return {str(status): responses[status] for status in sorted(responses)}


def error_statuses(endpoint: Endpoint) -> list[int]:
    """Return the statuses of the endpoint's errors."""
    statuses = {400, 401, 403, 431, 500, 503}
    if "{" in endpoint.path:
        statuses.add(404)
    if 206 in endpoint.answers:
        statuses |= {412, 416, 429}
    if endpoint.name.startswith("export_"):
        statuses |= {429, 507}
    if endpoint.name == "preview_retention":
        statuses.add(429)
    if endpoint.writes:
        statuses |= {409, 507}
    if endpoint.body:  # a preview is refused like the change
        statuses.add(409)
    if endpoint.content:
        statuses |= {413, 415, 422}
    if IDEMPOTENCY_KEY in endpoint.headers:
        statuses.add(422)
    if IF_MATCH in endpoint.headers:
        statuses.add(412)
    return sorted(statuses)


def _success(endpoint: Endpoint, status: int, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    model = endpoint.answers[status]
    answer: dict[str, Any] = {"description": meaning_of(status, MEANINGS)}
    headers: dict[str, Any] = {}
    if model:
        answer["content"] = {JSON: {"schema": schemas[(model, "serialization")]}}
    elif status in {200, 206} and endpoint.method != "HEAD":
        answer["content"] = {endpoint.media: {"schema": BINARY}}
        headers |= HEADERS[status] if 206 in endpoint.answers else {}
    if status == 201:
        headers |= _LOCATION
    if endpoint.has_etag:
        headers |= _ETAG
    if endpoint.content:
        headers |= DIGEST
    return answer | ({"headers": headers} if headers else {})


def _error(status: int, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    content = {MEDIA: {"schema": schemas[(Problem, "validation")]}}
    answer: dict[str, Any] = {"description": meaning_of(status, TITLES), "content": content}
    headers = _CHALLENGE if status == 401 else ERROR_HEADERS.get(status, {})
    return answer | ({"headers": headers} if headers else {})
