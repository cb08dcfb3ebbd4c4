"""The OpenAPI document of /api/v1: valid, complete, separate, and good for generators of clients."""

import re

import pytest

from frepo_core.web import all_endpoints


@pytest.fixture
def document(app):
    return app.get("/api/v1/openapi.json").json


def operations_of(document):
    return {
        (method.upper(), path): operation
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }


def test_each_api_has_its_own_endpoints(app, document, services):
    v1 = {
        (endpoint.method, re.sub(r"{(\w+):[^}]*}", r"{\1}", endpoint.path))
        for endpoint in all_endpoints(services)
        if endpoint.is_v1
    }

    assert v1 == operations_of(document).keys()
    assert [] == [path for path in app.get("/api/doc.json").json["paths"] if path.startswith("/api/v1")]


def test_errors_are_problems(document):
    kinds = {
        tuple(answer["content"])
        for operation in operations_of(document).values()
        for status, answer in operation["responses"].items()
        if status >= "400"
    }

    assert {("application/problem+json",)} == kinds


def test_what_may_be_left_out_is_optional(document):
    operations = {operation["operationId"]: operation for operation in operations_of(document).values()}
    required = {
        name: [parameter["name"] for parameter in operation["parameters"] if parameter["required"]]
        for name, operation in operations.items()
    }

    assert ["collection"] == required["show_collection_sizes"]
    assert [True, False] == [
        operations[name]["requestBody"]["required"] for name in ("create_collection", "link_version")
    ]


def test_no_two_models_have_one_name(document):
    """Pydantic distinguishes them by their modules, or as input and output, and clients get other names then."""
    assert [] == [name for name in document["components"]["schemas"] if not re.fullmatch("[A-Za-z]+", name)]
