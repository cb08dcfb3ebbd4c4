"""The OpenAPI document of the second API, and the page that shows it."""

from typing import Any

from pydantic import RootModel
from pyramid.response import Response

from frepo_core.web.base.endpoint import Endpoint
from frepo_core.web.base.request import V1, FrepoRequest
from frepo_core.web.views.api_docs import document_response, page_response


class OpenApiDocument(RootModel[dict[str, Any]]):
    """An OpenAPI 3.1 document."""


def show_document(request: FrepoRequest) -> Response:
    """Return the OpenAPI document of this API. It depends on the service's settings and plug-ins."""
    body = request.registry.v1_documentation.document(request.link(""))
    return document_response(request, body, "application/json")


def show_page(request: FrepoRequest) -> Response:
    """Return a page that shows the OpenAPI document, with a search, and sends requests with one's token."""
    return page_response(request, request.registry.v1_documentation.page("openapi.json", "../viewer"))


ENDPOINTS = [
    Endpoint(
        name="show_document",
        method="GET",
        path=f"{V1}/openapi.json",
        view=show_document,
        summary="This document",
        permission=None,
        answers={200: OpenApiDocument, 304: None},
        media="application/json",
    ),
    Endpoint(
        name="show_page",
        method="GET",
        path=f"{V1}/doc",
        view=show_page,
        summary="This document as a page",
        permission=None,
        answers={200: None, 304: None},
        media="text/html",
    ),
]
