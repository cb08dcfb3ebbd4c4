"""The OpenAPI document of /api/v1: valid, complete, separate, and good for generators of clients."""

import re

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from frepo_core.web import all_endpoints

JSON = {"application/json", "application/problem+json", "application/merge-patch+json"}


@pytest.fixture
def document(app):
    return app.get("/api/v1/openapi.json").json


def operations_of(document):
    return {
        (method.upper(), path): operation
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }


def schemas_in(part):
    if isinstance(part, list):
        for each in part:
            yield from schemas_in(each)
    elif isinstance(part, dict):
        yield part
        for value in part.values():
            yield from schemas_in(value)


def test_it_is_valid_openapi_3_1(document):
    assert [] == list(OpenAPIV31SpecValidator(document).iter_errors())


def test_each_api_has_its_own_endpoints(app, document, services):
    v1 = {
        (endpoint.method, re.sub(r"{(\w+):[^}]*}", r"{\1}", endpoint.path))
        for endpoint in all_endpoints(services)
        if endpoint.is_v1
    }

    assert v1 == operations_of(document).keys()
    assert [] == [path for path in app.get("/api/doc.json").json["paths"] if path.startswith("/api/v1")]


def test_operations_have_names_of_their_own(document):
    names = [operation["operationId"] for operation in operations_of(document).values()]

    assert len(names) == len(set(names))
    assert [] == [name for name in names if not re.fullmatch("[a-z]+(_[a-z]+)*", name)]


def test_each_body_has_a_named_schema(document):
    bodies = [
        media["schema"]
        for operation in operations_of(document).values()
        for content in (operation.get("requestBody", {}), *operation["responses"].values())
        for kind, media in content.get("content", {}).items()
        if kind in JSON or content is operation.get("requestBody")
    ]

    assert bodies
    assert [] == [schema for schema in bodies if "$ref" not in schema]


def test_no_property_is_only_null(document):
    properties = [schema["properties"] for schema in schemas_in(document) if isinstance(schema.get("properties"), dict)]

    assert properties
    assert [] == [name for fields in properties for name, field in fields.items() if field.get("type") == "null"]


def test_everything_is_explained(document):
    assert [] == [name for name, operation in operations_of(document).items() if not operation["description"]]
    assert [] == [
        (name, parameter["name"])
        for name, operation in operations_of(document).items()
        for parameter in operation["parameters"]
        if parameter["description"] == parameter["name"]
    ]


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
