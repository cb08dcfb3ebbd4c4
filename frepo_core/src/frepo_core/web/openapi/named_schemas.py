"""Rewrites the OpenAPI document for client generators. The accepted values stay the same.

openapi-generator 7.26 fails on a property whose only type is `null`, and on a body without a name.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ..schemas import json_schemas

PREFIX = "#/components/schemas/"
NULL = {"type": "null"}
# Types of fields and parameters that occur in many places. They are recognized by their `anyOf`.
NAMED: Mapping[str, dict[str, Any]] = {
    "Flag": json_schemas.FLAG,
    "Size": json_schemas.SIZE,
    "Count": json_schemas.COUNT,
    "Percent": json_schemas.PERCENT,
    "Day": json_schemas.DAY,
    "Network": json_schemas.NETWORK,
}
_VALUES = frozenset({"enum", "examples", "default", "const"})


def name_schemas(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with named schemas, and with `["string", "null"]` instead of two alternatives."""
    found: dict[str, Any] = _rewritten(document)
    definitions = found["components"]["schemas"]
    for name, media in _bodies(found):
        if "$ref" not in media["schema"]:
            definitions[name] = media["schema"]
            media["schema"] = {"$ref": PREFIX + name}
    used = set(_references(found))
    definitions |= {name: schema for name, schema in NAMED.items() if name in used}
    return found


def _rewritten(part: Any) -> Any:
    if isinstance(part, list):
        return [_rewritten(each) for each in part]
    if not isinstance(part, dict):
        return part
    schema = {key: value if key in _VALUES else _rewritten(value) for key, value in part.items()}
    if "properties" in schema:
        schema["properties"] = {name: _never_null_alone(field) for name, field in schema["properties"].items()}
    return _with_type_list(_with_reference(schema))


def _never_null_alone(field: Any) -> Any:
    return field | {"type": ["string", "null"]} if isinstance(field, dict) and field.get("type") == "null" else field


def _with_reference(schema: dict[str, Any]) -> dict[str, Any]:
    """Replace the schema by a reference if it has a name. Its own description is kept."""
    name = next((name for name, named in NAMED.items() if named["anyOf"] == schema.get("anyOf")), None)
    if name is None:
        return schema
    kept = {key: value for key, value in schema.items() if key in {"description", "default"}}
    if kept.get("description") == NAMED[name].get("description"):
        kept.pop("description", None)
    return {"$ref": PREFIX + name, **kept}


def _with_type_list(schema: dict[str, Any]) -> dict[str, Any]:
    """Replace `anyOf` of one type and null by a list of types."""
    options = schema.get("anyOf", [])
    others = [option for option in options if option != NULL]
    if NULL not in options or len(others) != 1 or not isinstance(others[0].get("type"), str):
        return schema
    other: dict[str, Any] = others[0]
    merged = other | {key: value for key, value in schema.items() if key != "anyOf"}
    merged["type"] = [other["type"], "null"]
    if "enum" in other:
        merged["enum"] = [*other["enum"], None]
    return merged


def _bodies(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each body of a request or an answer, with a name for its schema."""
    for operations in document["paths"].values():
        for operation in operations.values():
            name = "".join(word.capitalize() for word in operation["operationId"].split("_"))
            for media in operation.get("requestBody", {}).get("content", {}).values():
                yield f"{name}Body", media
            for status, answer in operation["responses"].items():
                for kind, media in answer.get("content", {}).items():
                    if kind == "application/json":  # other types are files and pages
                        yield f"{name}{status}", media


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, list):
        for each in part:
            yield from _references(each)
    elif isinstance(part, dict):
        if isinstance(reference := part.get("$ref"), str):
            yield reference.removeprefix(PREFIX)
        for value in part.values():
            yield from _references(value)
