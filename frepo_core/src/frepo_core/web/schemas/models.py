"""Types and models that several endpoints share."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, WithJsonSchema
from pydantic_core import PydanticCustomError

from frepo_core.domain.durations import parse_duration
from frepo_core.domain.naming import check_file_name, check_tag
from frepo_core.domain.sizes import MAX_SIZE, parse_size
from frepo_core.services.base.records import BlobRecord
from frepo_core.services.base.records.file_records import CopyCount
from frepo_core.services.composition.container import Services

from . import json_schemas
from .validation import RULE_BROKEN

MAX_SHOWN = 64
_TRUE, _FALSE = {"true", "1", "yes", "on"}, {"false", "0", "no", "off", ""}


class Form(BaseModel):
    """A JSON body. Unknown fields are refused, and a text is not a number."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, defer_build=True)


class Query(BaseModel):
    """Parameters in the query. Unknown parameters are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True, defer_build=True)


class Reply(BaseModel):
    """A JSON answer."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, defer_build=True)


class WireDate(Reply):
    """A time in UTC, in the form that this API has always had."""

    date: str = Field(pattern=json_schemas.MOMENT, examples=["2026-11-21 04:00:00.000000"])
    timezone_type: int = 3
    timezone: str = "UTC"

    @classmethod
    def of(cls, moment: datetime) -> "WireDate":
        """Convert an aware datetime."""
        return cls(date=moment.astimezone(UTC).isoformat(" ", "microseconds").removesuffix("+00:00"))


def rule_error(text: str) -> PydanticCustomError:
    """Return the validation error for a rule whose text is part of the API."""
    return PydanticCustomError(RULE_BROKEN, "{text}", {"text": text})


def format_value(value: Any) -> str:
    """Return a value for an error message: long texts are cut, objects and lists are only named."""
    if isinstance(value, str):
        return repr(value if len(value) <= MAX_SHOWN else value[:MAX_SHOWN] + "...")
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return repr(value)


def int_if_whole(value: Any) -> Any:
    """Return 5 for 5.0: they are the same number in JSON Schema."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _flag(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) <= MAX_SHOWN and value.lower() in _TRUE | _FALSE:
        return value.lower() in _TRUE
    raise ValueError("Expected true, 1, yes, on, or false, 0, no, off")


def _file_name(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return check_file_name(value, may_have_symbols=False)
    except ValueError as error:
        raise rule_error(str(error)) from None


def _tag(value: Any) -> Any:
    return check_tag(value) if isinstance(value, str) else value


def _size(value: Any) -> Any:
    """Parse a number of bytes, or a text such as `4GB`."""
    value = int_if_whole(value)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise rule_error("cannot_parse_disk_space_check_format")
    try:
        size = parse_size(value)
    except ValueError as error:
        raise rule_error(str(error)) from None
    if size < 0:
        raise rule_error("number_cannot_be_negative_value")
    return size


def _page(value: Any) -> Any:
    """Parse a number in a query: only digits, without sign, dot or underscore."""
    if not isinstance(value, str) or not re.fullmatch("[0-9]{1,10}", value):
        raise ValueError("Input should be a whole number in digits")
    return int(value)


def _count(value: Any) -> Any:
    """Parse a whole number, or a text of digits."""
    if isinstance(value, str) and re.fullmatch("-?[0-9]{1,19}", value):
        value = int(value)
    value = int_if_whole(value)
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > MAX_SIZE:
        raise rule_error("expected_int_type")
    if value < 0:
        raise rule_error("number_cannot_be_negative_value")
    return value


def _duration(value: Any) -> Any:
    try:
        return parse_duration(value)
    except (ValueError, TypeError, AttributeError):
        raise rule_error("expected_length_of_time_such_as_7d") from None


def _strategy(value: Any, info: ValidationInfo[Services]) -> Any:
    if not isinstance(value, str):
        raise rule_error("expected_string_type")
    if problem := info.context.collections.strategy_problem(value):
        raise rule_error(problem)
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
    """`simulate=true`: all checks and the same answer, but nothing changes."""

    simulate: Flag = False


class CopyCounts(Reply):
    """How many sound copies of the content there are, and how many there should be."""

    present: int
    wanted: int

    @classmethod
    def of(cls, blob: BlobRecord, counts: Mapping[int, CopyCount]) -> "CopyCounts | None":
        """Convert the counts: those of an upload, or of `counts` by the ids of blobs. None if it has no second copy."""
        count = blob.copies or counts.get(blob.id)
        return None if count is None else cls(present=count.present, wanted=count.wanted)
