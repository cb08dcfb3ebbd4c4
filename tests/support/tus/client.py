"""A client of tus 1.0 for tests: one method for each request, and the answer as it is."""

import base64
import hashlib
import json
from dataclasses import dataclass
from typing import Any

from webtest import TestApp, TestResponse

UPLOADS = "/api/v1/uploads"
PART = "application/offset+octet-stream"


def checksum(data: bytes, algorithm: str = "sha256") -> str:
    """Return the header Upload-Checksum of a part."""
    return f"{algorithm} {base64.b64encode(hashlib.new(algorithm, data).digest()).decode()}"


def metadata(**values: str) -> str:
    """Return the header Upload-Metadata."""
    return ",".join(f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in values.items())


@dataclass(frozen=True)
class Tus:
    """Sends requests with one token; it does not raise on any status."""

    app: TestApp
    token: str

    def call(self, method: str, path: str, headers: Any = (), **more: Any) -> TestResponse:
        sent = {"Tus-Resumable": "1.0.0", "X-Auth-Token": self.token, **dict(headers)}
        sent = {name: value for name, value in sent.items() if value is not None}
        return self.app.request(path, method=method, headers=sent, status="*", **more)

    def post(self, length: int | None, data: bytes | None = None, *, headers: Any = (), **values: str) -> TestResponse:
        """Create an upload, with its first part if `data` is given."""
        sent = {"Upload-Metadata": metadata(**values)}
        sent |= {"Upload-Defer-Length": "1"} if length is None else {"Upload-Length": str(length)}
        if data is not None:
            sent["Content-Type"] = PART
        return self.call("POST", UPLOADS, sent | dict(headers), body=data or b"")

    def create(self, length: int | None, data: bytes | None = None, *, headers: Any = (), **values: str) -> str:
        """Create an upload that must be accepted; return its path."""
        answer = self.post(length, data, headers=headers, **values)
        assert 201 == answer.status_int, answer
        return answer.location.removeprefix("http://localhost:80")

    def head(self, path: str) -> TestResponse:
        return self.call("HEAD", path)

    def offset(self, path: str) -> int:
        """Return how many bytes are there."""
        answer = self.head(path)
        assert 200 == answer.status_int, answer
        return int(answer.headers["Upload-Offset"])

    def patch(self, path: str, offset: int, data: bytes, headers: Any = ()) -> TestResponse:
        sent = {"Upload-Offset": str(offset), "Content-Type": PART, **dict(headers)}
        return self.call("PATCH", path, sent, body=data)

    def break_off(self, path: str, offset: int, data: bytes, announced: int, headers: Any = ()) -> TestResponse:
        """Send a part that ends before the size that its head announces, as if the connection broke."""
        sent = {"Upload-Offset": str(offset), "Content-Type": PART, **dict(headers)}
        return self.call("PATCH", path, {**sent, "Content-Length": str(announced)}, body=data)

    def delete(self, path: str) -> TestResponse:
        return self.call("DELETE", path)

    def show(self, path: str) -> Any:
        """Return what the service says about the upload."""
        return self.call("GET", path).json

    def commit(self, path: str, **claims: Any) -> TestResponse:
        return self.app.request(
            f"{path}/commit",
            method="POST",
            headers={"X-Auth-Token": self.token, "Content-Type": "application/json"},
            body=json.dumps(claims).encode(),
            status="*",
        )
