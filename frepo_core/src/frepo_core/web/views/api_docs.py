"""The endpoints of the API's documentation: the OpenAPI document, the page that renders it, and the map of routes."""

import hashlib
import re
from collections import defaultdict
from typing import Any

from pydantic import BaseModel, RootModel
from pyramid.response import Response

from ..base.endpoint import Answer, Endpoint
from ..base.request import FrepoRequest
from ..content.if_none_match import is_known
from ..schemas.models import Reply
from ..viewer.viewer import PAGE_POLICY


class OpenApiReply(RootModel[dict[str, Any]]):
    """An OpenAPI 3.1 document."""


class Route(Reply):
    """A path and its methods."""

    methods: list[str]
    path: str


class RoutesReply(Reply):
    """All routes by name."""

    code: int = 200
    data: dict[str, Route]


def show_document(request: FrepoRequest) -> Response:
    """Return the OpenAPI document of this service. It depends on the service's settings and plug-ins."""
    return document_response(request, request.registry.documentation.document(request.link("")), "application/json")


def show_page(request: FrepoRequest) -> Response:
    """Return a page that shows the OpenAPI document, with a search, and sends requests with one's token."""
    return page_response(request, request.registry.documentation.page("doc.json", "viewer"))


def page_response(request: FrepoRequest, page: bytes) -> Response:
    """Return a page of the viewer, which loads scripts and styles from this service only."""
    response = document_response(request, page, "text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = PAGE_POLICY
    return response


def document_response(request: FrepoRequest, body: bytes, content_type: str) -> Response:
    """Return the body, or 304 if the client has it (RFC 9110, 13.1.2)."""
    etag = hashlib.sha256(body).hexdigest()
    response = (
        Response(status=304) if is_known(request, etag) else Response(body, headerlist=[("Content-Type", content_type)])
    )
    response.etag = etag
    response.cache_control = "no-cache"  # it changes with the next start of the service
    return response


def show_routes(request: FrepoRequest) -> Answer:
    """Map the routes."""
    methods: dict[str, list[str]] = defaultdict(list)
    for endpoint in request.registry.endpoints:
        methods[endpoint.path].append(endpoint.method)
    routes = {_route_name(path): Route(methods=found, path=path) for path, found in methods.items()}
    return Answer(body=RoutesReply(data=routes))


def _route_name(path: str) -> str:
    return "_".join(re.findall(r"\w+", path)) or "root"


_ANSWERS: dict[str, dict[int, type[BaseModel] | None]] = {
    "/api/doc.json": {200: OpenApiReply, 304: None},
    "/api/doc": {200: None, 304: None},
    "/repository/routing/map": {200: RoutesReply},
}

ENDPOINTS = [
    Endpoint(
        name=name,
        method="GET",
        path=path,
        view=view,
        summary=summary,
        permission=None,
        media="text/html",
        answers=_ANSWERS[path],
    )
    for name, path, view, summary in (
        ("show_document", "/api/doc.json", show_document, "This document"),
        ("show_page", "/api/doc", show_page, "This document as a page"),
        ("show_routes", "/repository/routing/map", show_routes, "Map of the routes"),
    )
]
