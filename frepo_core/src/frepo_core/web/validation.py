"""Turns what clients send into validated models, and what is wrong into messages for each field."""

import functools
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar, get_origin

from pydantic import BaseModel, ValidationError

from frepo_core.errors import FieldsError, MalformedRequestError

from .request import FrepoRequest

Model = TypeVar("Model", bound=BaseModel)

JSON_BYTES = 1 << 20
RULE_BROKEN = "frepo_rule"
TITLE = "Validation error"

NUL = "A text holds U+0000, which not every database keeps"

_INDEX = re.compile(r"\[\d*\]$", re.ASCII)
_HALF_A_PAIR = re.compile("[\ud800-\udfff]")


def parse_query(model: type[Model], params: Iterable[tuple[str, str]]) -> Model:
    """Validate a query; what the model does not name is left to others (`_token`, cache busters)."""
    return validate(model, gather(model, params))


def gather(model: type[BaseModel], params: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Collect the parameters that the model names; `tags[]=a&tags[]=b`, `tags[0]=a&tags[1]=b` and `tags=a` make lists."""
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
    """Return the parameters that the model names, and whether each is a list."""
    fields = model.model_fields.items()
    return {field.alias or name: get_origin(field.annotation) is list for name, field in fields}


def parse_body(model: type[Model], request: FrepoRequest) -> Model:
    """Validate a JSON body in UTF-8; an empty one is an empty object. Raises `MalformedRequestError`, `FieldsError`."""
    raw = request.body_file.read(JSON_BYTES + 1)
    if len(raw) > JSON_BYTES:
        raise MalformedRequestError(f"The JSON body is larger than {JSON_BYTES} bytes")
    try:
        data = json.loads(raw.decode("utf-8") or "{}", parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        raise MalformedRequestError("The body is not UTF-8") from None
    except RecursionError:
        raise MalformedRequestError("The JSON body is nested too deeply") from None
    except ValueError as error:
        raise MalformedRequestError(f"The body is not valid JSON: {error}") from None
    if any(_HALF_A_PAIR.search(text) for _, text in _texts(data)):
        raise MalformedRequestError("A text holds half of a surrogate pair")
    if not isinstance(data, dict):
        raise FieldsError({"form": ["The body has to be a JSON object"]})
    return validate(model, data)


def _texts(data: Any) -> Iterator[tuple[str, str]]:
    """Give every text in what was JSON, and the field that holds it; the names of fields are texts, too."""
    waiting = [("form", data)]
    while waiting:
        where, each = waiting.pop()
        if isinstance(each, str):
            yield where, each
        elif isinstance(each, dict):
            waiting += [(f"{where}.{name}", value) for name, value in each.items()] + [(where, name) for name in each]
        elif isinstance(each, list):
            waiting += [(where, value) for value in each]


def validate(model: type[Model], data: dict[str, Any]) -> Model:
    """Validate data. Raises `FieldsError`; a model's `RULES_TITLE` tells broken rules from other mistakes.

    What no rule refused holds no U+0000 either: PostgreSQL refuses to keep it.
    """
    try:
        valid = model.model_validate(data)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        fields: dict[str, list[str]] = {}
        for problem in problems:
            name, text = _describe(problem)
            fields.setdefault(name, []).append(text)
        rules_only = all(problem["type"] == RULE_BROKEN for problem in problems)
        raise FieldsError(fields, getattr(model, "RULES_TITLE", TITLE) if rules_only else TITLE) from None
    if unstorable := {where: [NUL] for where, text in _texts(data) if "\0" in text}:
        raise FieldsError(unstorable, NUL)
    return valid


def _describe(problem: Any) -> tuple[str, str]:
    location = [str(part) for part in problem["loc"]]
    if problem["type"] == "extra_forbidden":
        return "form", f'This request does not support extra parameters such as "{location[-1]}"'
    names = [part for part in location if not part.isdigit()]
    return ".".join(["form", *names]), problem["msg"].removeprefix("Value error, ")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
