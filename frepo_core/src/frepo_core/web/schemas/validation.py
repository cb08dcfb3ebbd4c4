"""Validates what clients send, and reports each mistake with the field that it is in."""

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, get_origin

from pydantic import BaseModel, ValidationError

from frepo_core.errors import FieldsError
from frepo_core.services.composition.container import Services

from ..base.request import FrepoRequest
from .json_body import JSON_BYTES, parse_json

Model = TypeVar("Model", bound=BaseModel)

# The maximum number of mistakes in one answer.
MAX_MESSAGES = 100
RULE_BROKEN = "frepo_rule"
TITLE = "Validation error"

NUL = "A text holds U+0000, which not every database keeps"

_INDEX = re.compile(r"\[\d*\]$", re.ASCII)


def parse_query(model: type[Model], params: Iterable[tuple[str, str]]) -> Model:
    """Validate a query. Parameters that the model does not have are ignored (`_token`, cache busters)."""
    return validate(model, gather(model, params))


def gather(model: type[BaseModel], params: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Collect the parameters of the model. Lists are `tags[]=a&tags[]=b`, `tags[0]=a&tags[1]=b` or `tags=a`."""
    lists = _lists(model)
    values: dict[str, Any] = {}
    for raw, value in params:
        name = _INDEX.sub("", raw)
        if name not in lists:
            continue
        if lists[name]:
            values.setdefault(name, []).append(value)
        else:
            values[name] = value
    return values


@functools.cache
def _lists(model: type[BaseModel]) -> dict[str, bool]:
    """Return the parameters of the model, and whether each is a list."""
    fields = model.model_fields.items()
    return {field.alias or name: get_origin(field.annotation) is list for name, field in fields}


def parse_body(model: type[Model], request: FrepoRequest) -> Model:
    """Validate a JSON body in UTF-8; an empty one is an empty object. Raises `MalformedRequestError`, `FieldsError`."""
    data = parse_json(request.body_file.read(JSON_BYTES + 1))
    if not isinstance(data, dict):
        raise FieldsError({"form": ["The body has to be a JSON object"]})
    return validate(model, data, context=request.services)


def validate(model: type[Model], data: dict[str, Any], *, context: Services | None = None) -> Model:
    """Validate data. Raises `FieldsError`, with the message `RULES_TITLE` of the model if only rules of ours failed.

    Validators find the `context` in their `ValidationInfo`. Texts with U+0000 are refused: PostgreSQL cannot store
    them.
    """
    try:
        valid = model.model_validate(data, context=context)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        fields: dict[str, list[str]] = {}
        for problem in problems[:MAX_MESSAGES]:
            name, text = _describe(problem)
            fields.setdefault(name, []).append(text)
        only_rules = all(problem["type"] == RULE_BROKEN for problem in problems)
        raise FieldsError(fields, getattr(model, "RULES_TITLE", TITLE) if only_rules else TITLE) from None
    if unstorable := fields_with_nul(data):
        raise FieldsError({field: [NUL] for field in unstorable}, NUL)
    return valid


def _describe(problem: Any) -> tuple[str, str]:
    location = [str(part) for part in problem["loc"]]
    if problem["type"] == "extra_forbidden":
        return "form", f'This request does not support extra parameters such as "{location[-1]}"'
    names = [part for part in location if not part.isdigit()]
    return ".".join(["form", *names]), problem["msg"].removeprefix("Value error, ")


def fields_with_nul(data: dict[str, Any]) -> list[str]:
    """Return the names of the fields that contain U+0000."""
    return fields_with(data, lambda value: isinstance(value, str) and "\0" in value)


def fields_with(data: dict[str, Any], is_wrong: Callable[[Any], bool]) -> list[str]:
    """Return the names of the fields that contain a wrong text or number. Names are built only for those."""
    found: dict[str, None] = {}
    remaining: list[tuple[list[str], Any]] = [(["form"], data)]
    while remaining and len(found) < MAX_MESSAGES:
        path, value = remaining.pop()
        if is_wrong(value):
            found[".".join(path)] = None
        elif isinstance(value, dict):
            remaining += [(path, name) for name in value]
            remaining += [([*path, name], inner) for name, inner in value.items()]
        elif isinstance(value, list):
            remaining += [(path, inner) for inner in value]
    return list(found)
