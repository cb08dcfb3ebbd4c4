"""A client of the service with one token, and short methods for the most frequent requests."""

import json as json_format
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import pytest
from webtest import TestApp, TestResponse

from frepo_core.error_explanations import explain
from frepo_core.services.composition.container import Services
from frepo_core.web.views.field_names import FIELDS

COLLECTIONS = "/repository/collection"
JSON = {"Content-Type": "application/json"}


def with_settings(**values: str) -> Any:
    """Run a test with other settings; `fs__adapter` is `fs.adapter`."""
    settings = {name.replace("__", "."): value for name, value in values.items()}
    return pytest.mark.parametrize("settings", [settings], indirect=True, ids=["other-settings"])


def refusal(answer: TestResponse) -> tuple[Any, ...]:
    """Return the part of an error answer that clients evaluate."""
    return answer.status_int, answer.json["status"], answer.json["error_code"], answer.json["errors"]


def refused_version(status: int, code: int, field: str, text: str, context: Any = None) -> dict[str, Any]:
    """Return the envelope of the answer that refuses a version."""
    return {
        "status": status,
        "error_code": code,
        "http_code": 400,
        "exit_code": 400,
        "field": field,
        "errors": {field: text},
        "version": None,
        "collection": None,
        "message": explain(text, context, FIELDS),
    }


def stored(services: Services, answer: TestResponse) -> Any:
    """Return the record of the file in the answer to an upload."""
    return services.files.find(answer.json["filename"])


def stored_name(url: str) -> str:
    return urlsplit(url).path.rpartition("/")[2]


@dataclass(frozen=True)
class Client:
    """Sends requests with one token, or without a token; it does not raise on any status."""

    app: TestApp
    token: str | None = None

    def call(self, method: str, path: str, query: Any = (), *, json: Any = None, **more: Any) -> TestResponse:
        """Send `json` or the raw `body`, with `headers` and the WSGI variables in `environ`."""
        headers = dict(more.pop("headers", ()))
        if json is not None:
            headers, more["body"] = JSON | headers, json_format.dumps(json).encode()
        if self.token is not None:
            headers["X-Auth-Token"] = self.token
        url = f"{path}?{urlencode(query, doseq=True)}" if query else path
        return self.app.request(url, method=method, headers=headers, status="*", **more)

    def get(self, path: str, query: Any = (), **more: Any) -> TestResponse:
        return self.call("GET", path, query, **more)

    def head(self, path: str, query: Any = (), **more: Any) -> TestResponse:
        return self.call("HEAD", path, query, **more)

    def delete(self, path: str, query: Any = (), **more: Any) -> TestResponse:
        return self.call("DELETE", path, query, **more)

    def post(self, path: str, json: Any, query: Any = (), **more: Any) -> TestResponse:
        return self.call("POST", path, query, json=json, **more)

    def put(self, path: str, json: Any, query: Any = (), **more: Any) -> TestResponse:
        return self.call("PUT", path, query, json=json, **more)

    def upload(self, content: bytes = b"hello", name: str = "a.txt", headers: Any = (), **query: Any) -> TestResponse:
        query = {"fileName": name, **query}
        return self.call("POST", "/repository/file/upload", query, body=content, headers=headers)

    def send_form(self, *parts: tuple[Any, ...], path: str = "/repository/file/upload", query: Any = ()) -> Any:
        """Post multipart/form-data; a part is (name, value) or (name, file name, content)."""
        lines = []
        for name, *file, value in parts:
            filename = f'; filename="{file[0]}"' if file else ""
            head = f'--boundary\r\nContent-Disposition: form-data; name="{name}"{filename}\r\n\r\n'
            lines += [head.encode(), value if isinstance(value, bytes) else value.encode(), b"\r\n"]
        headers = {"Content-Type": "multipart/form-data; boundary=boundary"}
        return self.call("POST", path, query, body=b"".join([*lines, b"--boundary--\r\n"]), headers=headers)

    def download(self, name: str, query: Any = (), **more: Any) -> TestResponse:
        return self.call("GET", f"/repository/file/{quote(name)}", query, **more)

    def create(self, query: Any = (), **form: Any) -> TestResponse:
        return self.post(COLLECTIONS, {"filename": "dump.sql.gz", **form}, query)

    def push(self, collection: str, content: bytes = b"hello", **more: Any) -> TestResponse:
        return self.call("POST", f"{COLLECTIONS}/{collection}/backup", body=content, **more)

    def versions(self, collection: str) -> dict[str, Any]:
        """Return the collection's versions by number."""
        found: dict[str, Any] = self.get(f"{COLLECTIONS}/{collection}/backup").json["versions"]
        return found


def follow(client: Client, url: str) -> TestResponse:
    """Request the target of a link in an answer."""
    return client.get(url.removeprefix("http://localhost:80"))
