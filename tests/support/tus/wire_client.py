"""A client of tus 1.0 for a service that runs as a process; requests of one upload may go to several processes."""

import json
from dataclasses import dataclass
from typing import Any

from support.wire import Client, Reply

from .client import PART, UPLOADS, metadata

TUS = {"Tus-Resumable": "1.0.0"}


@dataclass(frozen=True)
class WireTus:
    """Sends requests with the token of a client; it does not raise on any status."""

    client: Client

    def post(self, length: int, data: bytes = b"", headers: Any = (), **values: str) -> Reply:
        """Create an upload, with its first part if there is data."""
        sent = {"Upload-Length": str(length), "Upload-Metadata": metadata(**values), **dict(headers)}
        return self.client.request("POST", UPLOADS, data, TUS | sent | ({"Content-Type": PART} if data else {}))

    def create(self, length: int, data: bytes = b"", headers: Any = (), **values: str) -> str:
        """Create an upload that must be accepted; return its path."""
        reply = self.post(length, data, headers, **values)
        assert 201 == reply.status, reply.body
        return "/" + reply.headers["Location"].split("/", 3)[3]

    def head(self, path: str) -> Reply:
        return self.client.request("HEAD", path, headers=TUS)

    def offset(self, path: str) -> int:
        """Return how many bytes are there."""
        reply = self.head(path)
        assert 200 == reply.status
        return int(reply.headers["Upload-Offset"])

    def patch(self, path: str, offset: int, data: bytes, headers: Any = ()) -> Reply:
        sent = {"Upload-Offset": str(offset), "Content-Type": PART, **dict(headers)}
        return self.client.request("PATCH", path, data, TUS | sent)

    def commit(self, path: str, **claims: Any) -> Reply:
        headers = {"Content-Type": "application/json"}
        return self.client.request("POST", f"{path}/commit", json.dumps(claims), headers)


def digests(client: Client, collection: str) -> list[str]:
    """Return the SHA-256 of a collection's versions."""
    items = client.request("GET", f"/api/v1/collections/{collection}/versions").json["items"]
    return [one["sha256"] for one in items]
