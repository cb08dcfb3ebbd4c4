"""Types of values: times (RFC 3339, UTC), durations (ISO 8601), sizes and names."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, ValidationInfo, WithJsonSchema

from frepo_core.domain.durations import format_iso_duration, parse_any_duration
from frepo_core.domain.naming import check_file_name
from frepo_core.domain.sizes import MAX_SIZE
from frepo_core.services.composition.container import Services

from ..schemas import json_schemas
from ..schemas.models import int_if_whole

MOMENT: dict[str, Any] = {
    "type": "string",
    "format": "date-time",
    "description": "A time in UTC (RFC 3339).",
    "examples": ["2026-11-22T20:13:33Z"],
}
# No version has a larger number, and no database stores one.
LARGEST_NUMBER = 10**18 - 1
_N = "[0-9]{1,5}"
_HOURS = f"T({_N}H({_N}M)?({_N}S)?|{_N}M({_N}S)?|{_N}S)"
DURATION: dict[str, Any] = {
    "type": "string",
    "description": "A duration (ISO 8601): `P1D`, `PT6H`, `P2W`; also `1d`, `6h`, `2w`.",
    "pattern": f"^(P{_N}W|P{_N}D({_HOURS})?|P{_HOURS}|{_N}[smhdw])$",
    "examples": ["P1D"],
}
# Answers have no weeks, so a duration of weeks has more digits in days.
SHOWN_DURATION = DURATION | {
    "description": "A duration (ISO 8601) in days, hours, minutes and seconds: `P1D`, `PT6H`.",
    "pattern": f"^P([0-9]{{1,9}}D({_HOURS})?|{_HOURS})$",
}


def _moment(value: Any) -> datetime:
    """Parse a time with a zone, `2026-11-22T20:13:33Z`, or a day, which begins at midnight UTC."""
    if isinstance(value, datetime):
        return value
    try:
        found = datetime.fromisoformat(value)
        found = found.replace(tzinfo=UTC) if len(value) == len("2026-11-22") else found
        if found.tzinfo is None:
            raise ValueError
        return found.astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        raise ValueError("Expected a time with its zone, such as 2026-11-22T20:13:33Z, or a day") from None


def _whole_second(value: datetime) -> datetime:
    return value.astimezone(UTC).replace(microsecond=0)


def _duration(value: Any) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if not isinstance(value, str):
        raise ValueError("Expected a duration as a text, such as P1D or 6h")  # noqa: TRY004  # pydantic reports only ValueError
    return parse_any_duration(value)


def _file_name(value: Any) -> Any:
    return check_file_name(value) if isinstance(value, str) else value


def _strategy(value: str, info: ValidationInfo[Services]) -> str:
    if info.context and info.context.collections.strategy_problem(value):
        known = ", ".join(sorted(info.context.plugins.strategies))
        raise ValueError(f"There is no such strategy. Installed are: {known}")
    return value


# A time that clients send.
Moment = Annotated[datetime, BeforeValidator(_moment), WithJsonSchema(MOMENT)]
# An end that is still to come. The service refuses one in the past, so the example is far away.
End = Annotated[datetime, BeforeValidator(_moment), WithJsonSchema(MOMENT | {"examples": ["2099-12-31T23:59:59Z"]})]
# A time in an answer, in whole seconds.
Time = Annotated[datetime, AfterValidator(_whole_second), WithJsonSchema(MOMENT)]
Duration = Annotated[
    timedelta,
    BeforeValidator(_duration),
    PlainSerializer(format_iso_duration, return_type=str),
    WithJsonSchema(DURATION, mode="validation"),
    WithJsonSchema(SHOWN_DURATION, mode="serialization"),
]
# Bytes, or a count. A number with a fraction other than 0 and a text are refused. `int_if_whole` is last, because the
# schema would not have limits that follow it.
Whole = Annotated[int, Field(ge=0, le=MAX_SIZE, strict=True), BeforeValidator(int_if_whole)]
Percent = Annotated[int, Field(ge=0, le=100, strict=True), BeforeValidator(int_if_whole)]
FileName = Annotated[str, BeforeValidator(_file_name), WithJsonSchema(json_schemas.FREE_FILE_NAME, mode="validation")]
Strategy = Annotated[str, AfterValidator(_strategy), Field(max_length=64, examples=["delete_oldest_when_adding_new"])]
Fingerprint = Annotated[str, Field(pattern=json_schemas.FINGERPRINT, examples=["3f1c9a0b7d2e"])]
