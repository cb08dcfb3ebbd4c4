"""Validates queries and bodies below `/api/v1`: all wrong fields at once, and unknown parameters are refused."""

import math
from collections.abc import Iterable
from typing import Any, TypeVar, get_origin

from pydantic import BaseModel, ValidationError

from frepo_core.errors import FieldsError
from frepo_core.services.composition.container import Services

from ..base.request import FrepoRequest
from ..schemas.json_body import JSON_BYTES, parse_json
from ..schemas.validation import MAX_MESSAGES, NUL, fields_with, fields_with_nul

Model = TypeVar("Model", bound=BaseModel)
UNKNOWN = "This is not a known name here: check the spelling, or leave it out"
INFINITE = "This number is too large"
NO_TOKEN_IN_URL = "A token is never read from the URL: send the header Authorization: Bearer"


class NoParameters(BaseModel):
    """The query of an endpoint that has no parameters."""


def parse_query(model: type[Model] | None, params: Iterable[tuple[str, str]]) -> BaseModel:
    """Validate a query. Lists repeat the name: `tag=a&tag=b`. Raises `FieldsError` with all wrong parameters."""
    expected: type[BaseModel] = model or NoParameters
    fields = expected.model_fields
    values: dict[str, Any] = {}
    wrong: dict[str, list[str]] = {}
    for name, value in params:
        if name not in fields:
            wrong[name[:64]] = [NO_TOKEN_IN_URL if name in {"_token", "token", "access_token"} else UNKNOWN]
        elif get_origin(fields[name].annotation) is list:
            values.setdefault(name, []).append(value)
        elif name in values:
            wrong[name] = ["This parameter is given twice"]
        else:
            values[name] = value
    return validate(expected, values, more=wrong)


def parse_body(model: type[Model], request: FrepoRequest) -> Model:
    """Validate a JSON body in UTF-8. Raises `MalformedRequestError` or `FieldsError` with all wrong fields."""
    data = parse_json(request.body_file.read(JSON_BYTES + 1))
    if not isinstance(data, dict):
        raise FieldsError({"body": ["The body has to be a JSON object"]})
    return validate(model, data, context=request.services)


def validate(
    model: type[Model],
    data: dict[str, Any],
    *,
    context: Services | None = None,
    more: dict[str, list[str]] | None = None,
) -> Model:
    """Validate data. Raises `FieldsError` with all wrong fields; `more` are wrong ones that the caller has found.

    Validators find the `context` in their `ValidationInfo`. Texts with U+0000 are refused, because PostgreSQL cannot
    store them, except those that the model names as `free_texts`, from which the service removes it. Refused are also
    numbers such as 1e999, which no database stores as JSON.
    """
    wrong = {name: list(texts) for name, texts in (more or {}).items()}
    for name in fields_with_nul(data):
        if name.removeprefix("form.") not in getattr(model, "free_texts", ()):
            wrong.setdefault(name.removeprefix("form."), []).append(NUL)
    for name in fields_with(data, _is_infinite):
        wrong.setdefault(name.removeprefix("form."), []).append(INFINITE)
    try:
        valid = model.model_validate(data, context=context)
    except ValidationError as error:
        for found in error.errors(include_url=False, include_input=False)[:MAX_MESSAGES]:
            name, text = _describe(found)
            wrong.setdefault(name, []).append(text)
    if wrong:
        raise FieldsError(wrong)
    return valid


def _is_infinite(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _describe(found: Any) -> tuple[str, str]:
    """Return the path of a wrong value with dots, and what is wrong."""
    name = ".".join(str(part)[:64] for part in found["loc"]) or "body"
    return name, UNKNOWN if found["type"] == "extra_forbidden" else found["msg"].removeprefix("Value error, ")
