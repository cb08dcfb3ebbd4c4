"""What the client asks a server, apart from uploads and downloads of content."""

from __future__ import annotations

import json
import re
import urllib.parse
from typing import Any

from ..errors import RefusedError, UsageError
from ..uploads.wire import CODINGS, has_zstd
from .connection import Connection
from .retry import Retry

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)


class Api:
    """A server, as a token sees it. Every method tries again as long as the server cannot be reached."""

    def __init__(self, connection: Connection, retry: Retry, content_encoding: str = "auto") -> None:
        self.connection = connection
        self.retry = retry
        self._content_encoding = content_encoding
        self._about: dict[str, Any] | None = None
        self._ids: dict[str, str] = {}

    def at_most(self, seconds: float) -> Api:
        """Return the same server, tried for at most so long."""
        return Api(self.connection, self.retry.at_most(seconds), self._content_encoding)

    def about(self) -> dict[str, Any]:
        """Return what the server says about itself, and about the token."""
        if self._about is None:
            self._about = self.get("/api/v1")
        return self._about

    def coding(self) -> str:
        """Return how uploads are compressed on the way; empty: not at all. Raises `UsageError`."""
        wanted = self._content_encoding
        if wanted == "none":
            return ""
        if wanted == "zstd" and not has_zstd():
            raise UsageError(
                "content_encoding zstd needs Python 3.14, or the package backports.zstd; gzip needs nothing"
            )
        known = self.about().get("content_codings") or []
        possible = [
            one for one in CODINGS if one in known and wanted in {"auto", one} and (one != "zstd" or has_zstd())
        ]
        return possible[0] if possible else ""

    def get(self, path: str) -> dict[str, Any]:
        """Return the JSON object at a path."""
        return self.retry.run(lambda: self.connection.send("GET", path).json())

    def post(self, path: str, values: dict[str, Any]) -> dict[str, Any]:
        """Post a JSON object, and return that of the answer."""
        body = json.dumps(values).encode()
        headers = {"Content-Type": "application/json"}

        def send() -> dict[str, Any]:
            answer = self.connection.send("POST", path, body=body, headers=headers)
            return answer.json() if answer.body else {}

        return self.retry.run(send)

    def collection_id(self, name: str) -> str:
        """Return the id of a collection that is given by its id or its name. Raises `UsageError`."""
        if _ID.fullmatch(name):
            return name
        if name not in self._ids:
            found = [one for one in self.collections(name) if one["name"] == name]
            if len(found) != 1:
                what = f"{len(found)} collections have the name {name!r}; use the id" if found else _missing(name)
                raise UsageError(what)
            self._ids[name] = str(found[0]["id"])
        return self._ids[name]

    def collections(self, search: str = "") -> list[dict[str, Any]]:
        """Return the collections that the token may see."""
        query = {"limit": "100", **({"q": search} if search else {})}
        found: list[dict[str, Any]] = []
        while True:
            page = self.get("/api/v1/collections?" + urllib.parse.urlencode(query))
            found += page.get("items") or []
            if not page.get("next"):
                return found
            query["cursor"] = str(page["next"])

    def collection(self, name: str) -> dict[str, Any]:
        """Return a collection."""
        return self.get(f"/api/v1/collections/{self.collection_id(name)}")

    def version(self, name: str, selector: str) -> dict[str, Any]:
        """Return a version. Raises `RefusedError` if there is none."""
        path = f"/api/v1/collections/{self.collection_id(name)}/versions/{urllib.parse.quote(selector, safe='')}"
        return self.get(path)

    def report_run(self, name: str, run: dict[str, Any]) -> None:
        """Report a run of a backup job. A server without runs, from before they existed, is no failure."""
        try:
            self.post(f"/api/v1/collections/{self.collection_id(name)}/runs", run)
        except RefusedError as error:
            if error.http_status not in {404, 405}:
                raise


def _missing(name: str) -> str:
    return f"the token sees no collection with the name {name!r}; `frepo-client check` shows which ones it sees"
