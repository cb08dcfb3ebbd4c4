"""What the OpenAPI documents of both APIs have in common: valid, explained, and good for generators of clients."""

import re

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator


@pytest.fixture(params=["/api/doc.json", "/api/v1/openapi.json"], ids=["first", "v1"])
def document(app, request):
    return app.get(request.param).json


def operations_of(document):
    return [operation for operations in document["paths"].values() for operation in operations.values()]


def parts_of(document):
    """Yield each object of the document with its path, except examples and defaults: they are values, not schemas."""
    waiting = [((), document)]
    while waiting:
        place, part = waiting.pop()
        if isinstance(part, dict):
            yield place, part
            waiting += [((*place, key), value) for key, value in part.items() if key not in {"examples", "default"}]
        elif isinstance(part, list):
            waiting += [((*place, index), value) for index, value in enumerate(part)]


def test_the_document_is_valid_openapi_3_1(document):
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []
    assert document["openapi"].startswith("3.1")


def test_operations_have_names_of_their_own(document):
    names = [operation["operationId"] for operation in operations_of(document)]

    assert len(names) == len(set(names))
    assert [name for name in names if not re.fullmatch("[a-z]+(_[a-z]+)*", name)] == []


def test_everything_is_explained(document):
    assert [] == [operation["operationId"] for operation in operations_of(document) if not operation["description"]]
    assert [] == [
        (operation["operationId"], parameter["name"])
        for operation in operations_of(document)
        for parameter in operation["parameters"]
        if parameter["description"] in {"", parameter["name"]}
    ]


def test_no_property_has_null_as_its_only_type(document):
    nulls = [place for place, part in parts_of(document) if part.get("type") == "null"]
    next_to_named = [
        place
        for place, part in parts_of(document)
        if {"type": "null"} in part.get("anyOf", []) and len(part["anyOf"]) == 2 and "$ref" in part["anyOf"][0]
    ]

    assert {(*place, "anyOf", 1) for place in next_to_named} == set(nulls)


def test_every_structured_body_is_a_named_schema(document):
    inline = [
        (operation["operationId"], kind)
        for operation in operations_of(document)
        for body in [operation.get("requestBody", {}), *operation["responses"].values()]
        for kind, media in body.get("content", {}).items()
        if "$ref" not in media["schema"] and media["schema"] != {"type": "string", "format": "binary"}
    ]

    assert inline == []


def test_references_lead_to_schemas(document):
    references = {part["$ref"] for _, part in parts_of(document) if isinstance(part.get("$ref"), str)}

    assert {reference.removeprefix("#/components/schemas/") for reference in references} <= set(
        document["components"]["schemas"]
    )
