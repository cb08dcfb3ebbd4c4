"""Keeps the OpenAPI document, which takes 50 ms to make: it is made once for a process."""

import json
import threading
from collections.abc import Sequence
from typing import Any

from ..base.endpoint import Endpoint
from ..viewer.viewer import VIEWER
from .document import Api, build_document

# A host cannot hold these characters, and JSON does not escape them.
_SERVER = "{the URL of this service}"


class Documentation:
    """The document of these endpoints, made for the first request that asks for it, and the page that shows it.

    `appendix` is HTML for the end of the page.
    """

    def __init__(self, endpoints: Sequence[Endpoint], api: Api, appendix: str = "") -> None:
        self._endpoints = endpoints
        self._api = api
        self._appendix = appendix
        self._lock = threading.Lock()
        self._document: dict[str, Any] | None = None
        self._json = b""

    def document(self, server: str) -> bytes:
        """Return the document as JSON for a service at this URL, which depends on the request's Host."""
        with self._lock:
            if not self._json:
                self._json = json.dumps(self._built(), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        return self._json.replace(json.dumps(_SERVER).encode(), json.dumps(server).encode())

    def page(self, document: str, folder: str) -> bytes:
        """Return the page, which loads the document from the relative URL `document`, and the viewer from `folder`."""
        with self._lock:
            info = self._built()["info"]
        return VIEWER.page(f"{info['title']} {info['version']}", document, folder, self._appendix).encode()

    def _built(self) -> dict[str, Any]:
        if self._document is None:
            self._document = build_document(self._endpoints, _SERVER, self._api)
        return self._document
