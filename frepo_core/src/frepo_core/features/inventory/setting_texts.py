"""Texts of the values of settings, as they are written in an ini file."""

from datetime import timedelta
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from frepo_core.domain.durations import format_duration

SECRET = "***"
REQUIRED = "required"
_HARMLESS = (timedelta, NoneType)


def value_text(value: Any) -> str:
    """Return the text of a value. An empty text is no value; that of a secret with a value is `***`."""
    if isinstance(value, SecretStr):
        return SECRET if value.get_secret_value() else ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, timedelta):
        return format_duration(value) or "0"
    if isinstance(value, tuple | list):
        return ", ".join(map(value_text, value))
    return "" if value is None else str(value)


def shown_text(field: FieldInfo, value: Any) -> str:
    """Return the text of a value for readers of settings: `***` if it may be a secret.

    Commands, and texts that nobody has declared harmless, may contain passwords.
    """
    text = value_text(value)
    return text if not text or is_harmless(field) or text == default_text(field) else SECRET


def is_harmless(field: FieldInfo) -> bool:
    """Return whether readers may see the value: it is declared harmless, or is a number, a truth value or a choice."""
    extra = field.json_schema_extra
    if isinstance(extra, dict) and extra.get("harmless"):
        return True
    kinds = get_args(field.annotation) if get_origin(field.annotation) in {Union, UnionType} else (field.annotation,)
    return all(get_origin(kind) is Literal or kind in _HARMLESS or _is_number(kind) for kind in map(_bare, kinds))


def _bare(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _is_number(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, int | float | Enum)


def default_text(field: FieldInfo, *, is_secret: bool = False) -> str:
    """Return the text of the default of a setting, `required` if it has none."""
    if field.default_factory is None and field.default is PydanticUndefined:
        return REQUIRED
    text = value_text(field.get_default(call_default_factory=True))
    return SECRET if is_secret and text else text
