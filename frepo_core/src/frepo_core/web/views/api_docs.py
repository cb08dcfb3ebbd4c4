"""The endpoints that explain the others: the OpenAPI document, a page that renders it, and the map of routes."""

import re
from collections import defaultdict
from typing import Any

from pydantic import BaseModel, RootModel
from pyramid.response import Response

from ..openapi.document import build_document
from ..openapi.html_page import render_page
from ..routing.endpoint import Answer, Endpoint
from ..routing.request import FrepoRequest
from ..schemas.models import Reply


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


def show_document(request: FrepoRequest) -> Answer:
    """Return the OpenAPI document of this service, as its settings make it."""
    return Answer(body=OpenApiReply(build_document(request.registry.endpoints, request.link(""))))


def show_page(request: FrepoRequest) -> Response:
    """Render the OpenAPI document as one page that loads nothing else."""
    document = build_document(request.registry.endpoints, request.link(""))
    response = Response(render_page(document), content_type="text/html", charset="utf-8")
    response.headers["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'"
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


_JSON_ANSWERS: dict[str, type[BaseModel]] = {"/api/doc.json": OpenApiReply, "/repository/routing/map": RoutesReply}

ENDPOINTS = [
    Endpoint(
        name=name,
        method="GET",
        path=path,
        view=view,
        summary=summary,
        permission=None,
        media="text/html",
        answers={200: _JSON_ANSWERS.get(path)},
    )
    for name, path, view, summary in (
        ("show_document", "/api/doc.json", show_document, "This document"),
        ("show_page", "/api/doc", show_page, "This document as a page"),
        ("show_routes", "/repository/routing/map", show_routes, "Map of the routes"),
    )
]
