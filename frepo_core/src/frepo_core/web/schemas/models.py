"""Types and shapes of the wire that several endpoints share."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, WithJsonSchema
from pydantic_core import PydanticCustomError

from frepo_core.domain.durations import parse_duration
from frepo_core.domain.naming import check_file_name, check_tag
from frepo_core.domain.sizes import MAX_SIZE, parse_size
from frepo_core.services.container import Services

from . import json_schemas
from .validation import RULE_BROKEN

MAX_SHOWN = 64
_TRUE, _FALSE = {"true", "1", "yes", "on"}, {"false", "0", "no", "off", ""}


class Form(BaseModel):
    """A JSON body: unknown fields are refused, and a text is not a number."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Query(BaseModel):
    """Parameters of a query."""

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)


class Reply(BaseModel):
    """A JSON answer."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)


class WireDate(Reply):
    """A date as clients of this API know it: always UTC."""

    date: str = Field(pattern=json_schemas.MOMENT, examples=["2026-11-21 04:00:00.000000"])
    timezone_type: int = 3
    timezone: str = "UTC"

    @classmethod
    def of(cls, moment: datetime) -> "WireDate":
        """Write an aware time."""
        return cls(date=moment.astimezone(UTC).isoformat(" ", "microseconds").removesuffix("+00:00"))


def broken(text: str) -> PydanticCustomError:
    """Make the error for a rule of the contract that has a text of its own."""
    return PydanticCustomError(RULE_BROKEN, "{text}", {"text": text})


def shown(value: Any) -> str:
    """Return a value as messages show it: a text is cut, anything else is named by its JSON type."""
    if isinstance(value, str):
        return repr(value if len(value) <= MAX_SHOWN else value[:MAX_SHOWN] + "...")
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return repr(value)


def whole(value: Any) -> Any:
    """Return 5 for 5.0: in JSON, and in its schemas, they are the same number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _flag(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _TRUE | _FALSE:
        return value.lower() in _TRUE
    raise ValueError("Expected true, 1, yes, on, or false, 0, no, off")


def _file_name(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return check_file_name(value)
    except ValueError as error:
        raise broken(str(error)) from None


def _tag(value: Any) -> Any:
    return check_tag(value) if isinstance(value, str) else value


def _size(value: Any) -> Any:
    """Read bytes, or a text such as `4GB`."""
    value = whole(value)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise broken("cannot_parse_disk_space_check_format")
    try:
        size = parse_size(value)
    except ValueError as error:
        raise broken(str(error)) from None
    if size < 0:
        raise broken("number_cannot_be_negative_value")
    return size


def _page(value: Any) -> Any:
    """Read a number of a query: digits alone, no sign, no dot, no underscore."""
    if not isinstance(value, str) or not re.fullmatch("[0-9]{1,10}", value):
        raise ValueError("Input should be a whole number in digits")
    return int(value)


def _count(value: Any) -> Any:
    """Read a whole number, also one that is written as a text."""
    if isinstance(value, str) and re.fullmatch("-?[0-9]{1,19}", value):
        value = int(value)
    value = whole(value)
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > MAX_SIZE:
        raise broken("expected_int_type")
    if value < 0:
        raise broken("number_cannot_be_negative_value")
    return value


def _duration(value: Any) -> Any:
    try:
        return parse_duration(value)
    except (ValueError, TypeError, AttributeError):
        raise broken("expected_length_of_time_such_as_7d") from None


def _strategy(value: Any, info: ValidationInfo[Services]) -> Any:
    if not isinstance(value, str):
        raise broken("expected_string_type")
    if problem := info.context.collections.strategy_problem(value):
        raise broken(problem)
    return value


Flag = Annotated[bool, BeforeValidator(_flag), WithJsonSchema(json_schemas.FLAG, mode="validation")]
FileName = Annotated[str, BeforeValidator(_file_name), WithJsonSchema(json_schemas.FILE_NAME, mode="validation")]
Tag = Annotated[str, BeforeValidator(_tag), WithJsonSchema(json_schemas.TAG, mode="validation")]
Size = Annotated[int, BeforeValidator(_size), WithJsonSchema(json_schemas.SIZE, mode="validation")]
Count = Annotated[int, BeforeValidator(_count), WithJsonSchema(json_schemas.COUNT, mode="validation")]
Percent = Annotated[
    int, BeforeValidator(_count), Field(le=100), WithJsonSchema(json_schemas.PERCENT, mode="validation")
]
Duration = Annotated[timedelta, BeforeValidator(_duration), WithJsonSchema(json_schemas.DURATION)]
Strategy = Annotated[str, BeforeValidator(_strategy), Field(examples=["delete_oldest_when_adding_new"])]
PageNumber = Annotated[int, BeforeValidator(_page)]
Password = Annotated[str, Field(max_length=250)]


class Simulate(Query):
    """`simulate=true`: everything is checked and answered the same, nothing changes."""

    simulate: Flag = False
