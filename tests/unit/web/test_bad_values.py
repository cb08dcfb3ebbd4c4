"""Sends bad values for every field and parameter of the OpenAPI document: none leads to an error 5xx."""

import itertools
import json
from urllib.parse import quote, urlencode

import pytest

from support.answers import CHOSEN, CHOSEN_TOKEN
from support.logs.log_recorder import MARK

VALUES = [
    None, True, -1, 0, 1.5, 2**63, 10**30, "", " ", "x", "-1", "9" * 400, "a\0b", "\n", "\ud7ff\uffff", "ü", "%00", "%",
    "'\"<>", "../..", "x" * 3000, [], [None], [[]], ["x"] * 200, {}, {"": None}, {"a": {"b": []}}, "0001-01-01",
    "9999-12-31", "2026-02-30", "9999-12-31 23:59:59", "+999999 years", "-999999 days", "999999999w", "http://[",
    "http://127.0.0.1:99999/", "http://\ud7ff/", "file:///etc/passwd", "v0", "v" + "9" * 30, "latest", "0.0.0.0/0",
    "::/129", "*" * 500, "text/plain", "base64", "é" * 250, "$" * 64,
]  # fmt: skip
# For each place, a few of the values: the next ones in turn, so that all are used.
VALUES_FOR_A_PLACE = 7
VALID = {"roles": ["upload.all"], "filename": "a.txt", "fileName": "a.txt", "fileUrl": "http://127.0.0.1:9/a.txt"}


def is_secret(name):
    """Whether the value is a password. The watch on the logs demands its mark in each."""
    return "password" in name.lower()


class Requests:
    """The requests of a document that have one bad value each: method, target, body and headers."""

    def __init__(self, document):
        self._document = document
        self._values = itertools.cycle(VALUES)

    def __iter__(self):
        for path, operations in self._document["paths"].items():
            for method, operation in operations.items():
                yield from self._of_operation(path, method.upper(), operation)

    def _of_operation(self, path, method, operation):
        places = operation["parameters"]
        known = CHOSEN_TOKEN if path.startswith("/auth/") else CHOSEN
        parts = {each["name"]: known for each in places if each["in"] == "path"}
        query = {each["name"]: self._example(each) for each in places if each["in"] == "query" and each.get("required")}
        schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        form = self._resolve(schema) if schema else {}
        fields = {
            name: self._example({"name": name, "schema": form["properties"][name]}) for name in form.get("required", [])
        }

        def request(*, part=None, parameter=None, field=None, header=None):
            filled = path.format_map({name: quote(text, safe="") for name, text in {**parts, **(part or {})}.items()})
            body = json.dumps({**fields, **(field or {})}).encode() if schema else b"content"
            target = f"{filled}?{urlencode({**query, **(parameter or {})})}"
            return method, target, body if "requestBody" in operation else b"", header or {}

        for name, value in self._bad(form.get("properties", {})):
            yield request(field={name: value})
            inner = self._resolve(form["properties"][name]).get("properties", {})
            yield from (request(field={name: {key: bad}}) for key, bad in self._bad(inner))
        for each in places:
            for name, value in self._bad([each["name"]]):
                text = value if isinstance(value, str) else json.dumps(value)
                if each["in"] == "query":
                    yield request(parameter={name: text})
                elif each["in"] == "path" and text:
                    yield request(part={name: text})
                elif each["in"] == "header" and "\n" not in text:
                    yield request(header={name: text.encode().decode("latin-1")})

    def _bad(self, names):
        chosen = [(name, next(self._values)) for name in names for _ in range(VALUES_FOR_A_PLACE)]
        return [(name, f"{value}{MARK}" if is_secret(name) else value) for name, value in chosen]

    def _example(self, each):
        return VALID.get(each["name"]) or self._resolve(each["schema"]).get("examples", ["x"])[0]

    def _resolve(self, schema):
        while "$ref" in schema:
            schema = self._document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return schema


@pytest.mark.slow
def test_no_bad_value_makes_the_service_fail(app, admin, caplog):
    requests = list(Requests(app.get("/api/doc.json").json))
    failed = []
    for method, target, body, headers in requests:
        answer = app.request(
            target, method=method, body=body, headers={**headers, "X-Auth-Token": admin}, expect_errors=True
        )
        if answer.status_int >= 500:
            failed.append((answer.status_int, method, target, body))

    assert len(requests) > 500
    assert failed == []
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []
