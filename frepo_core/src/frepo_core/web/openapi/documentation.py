"""Keeps the OpenAPI document and its page, which take 50 to 80 ms to make: each is made once for a process."""

import json
import threading
from collections.abc import Callable, Sequence
from typing import Any

from ..routing.endpoint import Endpoint
from .document import build_document
from .html_page import render_page

# A host cannot hold these characters, and JSON does not escape them.
_SERVER = "{the URL of this service}"


Build = Callable[[Sequence[Endpoint], str], dict[str, Any]]


class Documentation:
    """The document and the page of these endpoints, made for the first request that asks for one of them.

    `build` makes the document from the endpoints and the URL of the service; without it, that of the first API.
    """

    def __init__(self, endpoints: Sequence[Endpoint], build: Build | None = None) -> None:
        self._endpoints = endpoints
        self._build = build
        self._lock = threading.Lock()
        self._document: dict[str, Any] | None = None
        self._json = self._page = b""

    def document(self, server: str) -> bytes:
        """Return the document as JSON for a service at this URL, which depends on the request's Host."""
        with self._lock:
            if not self._json:
                self._json = json.dumps(self._built(), ensure_ascii=False, separators=(",", ":")).encode()
        return self._json.replace(json.dumps(_SERVER).encode(), json.dumps(server).encode())

    def page(self) -> bytes:
        """Return the page. It does not name the server."""
        with self._lock:
            if not self._page:
                self._page = render_page(self._built()).encode()
        return self._page

    def _built(self) -> dict[str, Any]:
        if self._document is None:
            self._document = (self._build or build_document)(self._endpoints, _SERVER)
        return self._document
